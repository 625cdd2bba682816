import fc from 'fast-check';
import type { GraphData } from './graph-data.js';
import { WorkflowGraph } from './workflow-graph.js';

function graphOf(ids: string[], arcs: [string, string, (string | null)?][]): GraphData {
  return {
    nodes: ids.map((id) => ({ id, type: 'template', data: {} })),
    edges: arcs.map(([source, target, sourceHandle], at) => ({
      id: `e${at}`,
      source,
      target,
      sourceHandle: sourceHandle ?? null,
    })),
  };
}

describe('WorkflowGraph', () => {
  const diamond = graphOf(
    ['a', 'b', 'c', 'd', 'e'],
    [
      ['a', 'b'],
      ['a', 'c'],
      ['b', 'd'],
      ['c', 'd'],
    ],
  );

  it('finds nodes and their edges in order', () => {
    const graph = WorkflowGraph.of(diamond);
    expect(graph.node('a')?.id).toBe('a');
    expect(graph.node('x')).toBeUndefined();
    expect(graph.node('constructor')).toBeUndefined();
    expect(graph.outgoing('a').map(({ target }) => target)).toEqual(['b', 'c']);
    expect(graph.incoming('d').map(({ source }) => source)).toEqual(['b', 'c']);
    expect(graph.outgoing('d')).toEqual([]);
    expect(WorkflowGraph.of(diamond)).toBe(graph);
  });

  it('knows ancestors', () => {
    const graph = WorkflowGraph.of(diamond);
    const ancestors = graph.ancestors('d');
    expect([...ancestors]).toEqual(['a', 'b', 'c']);
    expect([ancestors.size, ancestors.has('d'), ancestors.has('nobody')]).toEqual([3, false, false]);
    expect(graph.ancestors('e').size).toBe(0);
    expect(graph.ancestors('nobody').size).toBe(0);
    expect(graph.isAncestor('a', 'd')).toBe(true);
    expect(graph.isAncestor('d', 'a')).toBe(false);
  });

  it('leaves out what an invalid graph has too much: dangling edges and second nodes of an id', () => {
    const graph = WorkflowGraph.of({
      nodes: [
        { id: 'a', type: 'template', data: { label: 'first' } },
        { id: 'a', type: 'output', data: {} },
      ],
      edges: [{ id: 'e', source: 'a', target: 'ghost' } as GraphData['edges'][number]],
    });
    expect(graph.nodes).toHaveLength(1);
    expect(graph.node('a')?.data.label).toBe('first');
    expect(graph.edges).toEqual([]);
  });

  it('equals a naive search on random graphs, cyclic ones too', () => {
    const arbitrary = fc.integer({ min: 1, max: 40 }).chain((size) => {
      const id = fc.integer({ min: 0, max: size - 1 }).map((n) => `n${n}`);
      return fc.tuple(fc.constant(size), fc.array(fc.tuple(id, id), { maxLength: 80 }));
    });
    fc.assert(
      fc.property(arbitrary, ([size, arcs]) => {
        const ids = Array.from({ length: size }, (_, at) => `n${at}`);
        const graph = WorkflowGraph.of(graphOf(ids, arcs));
        for (const id of ids) {
          const expected = new Set<string>();
          const visit = (target: string): void => {
            for (const [source] of arcs.filter((arc) => arc[1] === target)) {
              if (!expected.has(source)) {
                expected.add(source);
                visit(source);
              }
            }
          };
          visit(id);
          const ancestors = graph.ancestors(id);
          expect([...ancestors].sort()).toEqual([...expected].sort());
          expect(ancestors.size).toBe(expected.size);
        }
      }),
    );
  });

  it('takes 2,000 nodes and 20,000 edges, in a chain too', () => {
    const ids = Array.from({ length: 2_000 }, (_, at) => `n${at}`);
    const arcs = ids.slice(1).map((id, at): [string, string] => [`n${at}`, id]);
    for (let at = 0; arcs.length < 20_000; at += 1)
      arcs.push([`n${at % 900}`, `n${1000 + ((at * 7) % 999)}`]);
    const graph = WorkflowGraph.of(graphOf(ids, arcs));
    expect(graph.ancestors('n1999').size).toBe(1_999);
    expect(graph.isAncestor('n0', 'n1998')).toBe(true);
    expect(graph.reachableFrom(['n0']).size).toBe(2_000);
  });
});
