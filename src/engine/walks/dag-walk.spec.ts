import fc from 'fast-check';
import {
  graphOf,
  walkThrough,
  type VisitEnd,
  type WalkRecord,
} from '../../../test/factories/walked-graph.js';
import type { NodeType } from '../../workflows/graph/graph-data.js';
import type { WorkflowGraph } from '../../workflows/graph/workflow-graph.js';
import { DagWalk } from './dag-walk.js';

const sorted = (ids: readonly string[]) => [...ids].sort();
const begunIds = ({ begun }: WalkRecord) => begun.map(({ nodeId }) => nodeId);

describe('a join', () => {
  /** How a predecessor of the join is decided. `failed-abort` never is: the run ends with it. */
  const STATES = ['live', 'dead', 'failed-abort', 'failed-skip', 'failed-condition', 'skipped'] as const;
  type State = (typeof STATES)[number];

  const combinations = STATES.flatMap((a) => STATES.flatMap((b) => STATES.map((c) => [a, b, c] as const)));

  it.each(combinations)('of %s, %s and %s', (...states) => {
    for (const order of [0, 1, 2]) {
      const { walk, record } = joined(states, order);
      const live = states.flatMap((state, at) =>
        state === 'live' || state === 'failed-skip' ? [`p${at}1`] : [],
      );
      const dead = states.flatMap((_state, at) => (live.includes(`p${at}1`) ? [] : [`p${at}`]));
      const join = record.begun.filter(({ nodeId }) => nodeId === 'join');
      const skip = record.skipped.filter(({ nodeId }) => nodeId === 'join');
      const after = record.begun.filter(({ nodeId }) => nodeId === 'after');
      if (states.includes('failed-abort')) {
        expect([join, skip, after]).toEqual([[], [], []]);
        expect(walk.undecided()).toEqual(['join', 'after']);
      } else if (live.length > 0) {
        expect(join.map(({ predecessors }) => sorted(predecessors))).toEqual([live]);
        expect([skip, after.length]).toEqual([[], 1]);
      } else {
        expect(join).toEqual([]);
        expect(skip.map(({ because }) => sorted(because))).toEqual([dead]);
        expect(record.skipped).toContainEqual({ nodeId: 'after', because: ['join'] });
      }
    }
  });

  function joined(states: readonly State[], order: number): { walk: DagWalk; record: WalkRecord } {
    const edges: string[] = [];
    const types: Record<string, NodeType> = { in: 'userInput' };
    const ends: Record<string, VisitEnd> = {};
    states.forEach((state, at) => {
      const node = `p${at}`;
      const isCondition = state === 'dead' || state === 'failed-condition';
      if (state === 'skipped') {
        types[`c${at}`] = 'condition';
        ends[`c${at}`] = { handle: 'else' };
        edges.push(`in>c${at}`, `c${at}:yes>${node}`);
      } else {
        edges.push(`in>${node}`);
      }
      edges.push(isCondition ? `${node}:yes>join` : `${node}>join`);
      if (isCondition) types[node] = 'condition';
      ends[node] = {
        live: 'ok',
        dead: { handle: 'else' },
        skipped: 'ok',
        'failed-abort': 'never',
        'failed-skip': 'failed',
        'failed-condition': 'failed',
      }[state] as VisitEnd;
    });
    const walk = new DagWalk(graphOf([...edges, 'join>after'], types));
    return {
      walk,
      record: walkThrough(
        walk,
        (node) => ends[node] ?? 'ok',
        () => order,
      ),
    };
  }

  it('begins when its longest branch has ended, once', () => {
    const graph = graphOf(['in>a', 'in>b1', 'b1>b2', 'b2>b3', 'a>join', 'b3>join', 'join>end']);
    const { steps } = walkThrough(new DagWalk(graph));
    expect(steps).toEqual([['in'], ['a', 'b1'], ['b2'], ['b3'], ['join'], ['end']]);
  });

  it('counts one predecessor once, however many edges lead from it', () => {
    const graph = graphOf(['c:x>join', 'c:y>join', 'c>join'], { c: 'condition' });
    const { begun } = walkThrough(new DagWalk(graph), (node) => (node === 'c' ? { handle: 'y' } : 'ok'));
    expect(begun.at(-1)).toMatchObject({ nodeId: 'join', predecessors: ['c1'] });
  });
});

describe('a run’s outcome', () => {
  const graph = graphOf(['in>a', 'a>o1', 'in>c', 'c:x>o2'], { o1: 'output', o2: 'output', c: 'condition' });

  it('holds the outputs of every output node that was reached, in the graph’s order', () => {
    const walk = new DagWalk(graph);
    walkThrough(
      walk,
      (node) => (node === 'c' ? { handle: 'x' } : { data: { [node]: 1, last: node } }),
      () => 1,
    );
    expect(walk.outcome()).toEqual({ kind: 'success', outputs: { o1: 1, o2: 1, last: 'o2' } });
  });

  it('is success in spite of skipped failures where an output was reached, else names the first', () => {
    const reached = new DagWalk(graph);
    walkThrough(reached, (node) => (node === 'a' ? 'failed' : { handle: 'else', data: { from: node } }));
    expect(reached.outcome()).toEqual({ kind: 'success', outputs: { from: 'o1' } });
    const none = new DagWalk(graph);
    walkThrough(none, (node) => (['a', 'o1', 'c'].includes(node) ? 'failed' : 'ok'));
    expect(none.outcome()).toEqual({
      kind: 'failure',
      reason: 'NODE_FAILED',
      nodeId: 'a',
      visitUuid: 'a1',
      error: 'a is broken',
    });
  });
});

describe('any graph', () => {
  interface Case {
    graph: WorkflowGraph;
    ends: Record<string, VisitEnd>;
    order: number[];
  }

  const anyCase: fc.Arbitrary<Case> = fc
    .integer({ min: 1, max: 25 })
    .chain((size) =>
      fc.record({
        size: fc.constant(size),
        density: fc.integer({ min: 1, max: 4 }),
        wires: fc.array(fc.nat(1_000_000), { minLength: size * size, maxLength: size * size }),
        kinds: fc.array(fc.constantFrom<NodeType>('template', 'condition', 'output', 'agent'), {
          minLength: size,
          maxLength: size,
        }),
        ends: fc.array(
          fc.constantFrom<VisitEnd>(
            'ok',
            'ok',
            'failed',
            { handle: 'x' },
            { handle: 'y' },
            { handle: 'else' },
          ),
          { minLength: size, maxLength: size },
        ),
        order: fc.array(fc.nat(1_000), { minLength: 1, maxLength: 30 }),
      }),
    )
    .map(({ size, density, wires, kinds, ends, order }) => {
      const edges: string[] = [];
      const types: Record<string, NodeType> = {};
      for (let to = 0; to < size; to += 1) {
        types[`n${to}`] = kinds[to] ?? 'template';
        for (let from = 0; from < to; from += 1) {
          const wire = wires[to * size + from] ?? 0;
          if (wire % (density + 1) !== 0) continue;
          const handle = kinds[from] === 'condition' ? [':x', ':y', ':else', ''][(wire >>> 8) % 4] : '';
          edges.push(`n${from}${handle}>n${to}`);
          if (wire % 7 === 0) edges.push(`n${from}>n${to}`);
        }
      }
      const byNode = Object.fromEntries(ends.map((end, at) => [`n${at}`, end]));
      return { graph: graphOf(edges, types), ends: byNode, order };
    });

  /** What decision 30 says, read recursively, edge by edge. */
  function interpret({ graph, ends }: Case) {
    const isLive = ({ source, sourceHandle }: { source: string; sourceHandle: string | null }): boolean => {
      if (!runs(source)) return false;
      const end = ends[source] ?? 'ok';
      if (end === 'failed') return graph.node(source)?.type !== 'condition';
      const handle = typeof end === 'object' ? end.handle : undefined;
      return sourceHandle === null || sourceHandle === handle;
    };
    const known = new Map<string, boolean>();
    const runs = (id: string): boolean => {
      const incoming = graph.incoming(id);
      const result = known.get(id) ?? (incoming.length === 0 || incoming.some(isLive));
      known.set(id, result);
      return result;
    };
    const sources = (id: string, live: boolean, suffix = '') => {
      const edges = graph.incoming(id).filter((edge) => isLive(edge) === live);
      return sorted([...new Set(edges.map(({ source }) => source + suffix))]);
    };
    const ids = graph.nodes.map(({ id }) => id);
    return {
      run: ids.filter(runs).map((id) => [id, sources(id, true, '1')] as const),
      skipped: ids.filter((id) => !runs(id)).map((id) => [id, sources(id, false)] as const),
    };
  }

  it('runs what the rules say, each node once, in any order of ending', () => {
    fc.assert(
      fc.property(anyCase, (one) => {
        const expected = interpret(one);
        const walk = new DagWalk(one.graph);
        let at = 0;
        const record = walkThrough(
          walk,
          (node) => one.ends[node] ?? 'ok',
          () => one.order[at++ % one.order.length] ?? 0,
        );
        const byId = (a: readonly [string, string[]], b: readonly [string, string[]]) =>
          a[0] < b[0] ? -1 : 1;
        expect(
          record.begun.map(({ nodeId, predecessors }) => [nodeId, sorted(predecessors)] as const).sort(byId),
        ).toEqual([...expected.run].sort(byId));
        expect(
          record.skipped.map(({ nodeId, because }) => [nodeId, sorted(because)] as const).sort(byId),
        ).toEqual([...expected.skipped].sort(byId));
        expect(walk.undecided()).toEqual([]);
        expect(record.begun.every(({ iterSeq }) => iterSeq === 1)).toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  it('begins no node before all its incoming edges are decided', () => {
    fc.assert(
      fc.property(anyCase, (one) => {
        const walk = new DagWalk(one.graph);
        const decided = new Set<string>();
        const running: string[] = [];
        for (let turn = 0; ; turn += 1) {
          const { begin, skip } = walk.advance();
          for (const { nodeId } of skip) decided.add(nodeId);
          for (const { nodeId } of begin) {
            expect(one.graph.incoming(nodeId).every(({ source }) => decided.has(source))).toBe(true);
            running.push(nodeId);
          }
          const [nodeId] = running.splice(
            (one.order[turn % one.order.length] ?? 0) % Math.max(1, running.length),
            1,
          );
          if (nodeId === undefined) break;
          decided.add(nodeId);
          const end = one.ends[nodeId] ?? 'ok';
          const handle = typeof end === 'object' ? (end.handle ?? null) : null;
          const status = end === 'failed' ? 'failed' : 'succeeded';
          walk.ended({ visitUuid: nodeId, nodeId, status, handle, data: {}, error: null });
        }
      }),
    );
  });
});

describe('2,000 nodes and 20,000 edges', () => {
  const edges: string[] = [];
  for (let from = 0; from < 2_000; from += 1) {
    for (let step = 1; step <= 10; step += 1)
      if (from + step < 2_000) edges.push(`n${from}${from === 0 ? ':x' : ''}>n${from + step}`);
  }
  const graph = graphOf(edges, { n0: 'condition' });

  it('run one after the other', () => {
    const record = walkThrough(new DagWalk(graph), (node) => (node === 'n0' ? { handle: 'x' } : 'ok'));
    expect(begunIds(record)).toEqual(graph.nodes.map(({ id }) => id));
  });

  it('are skipped at once where their beginning is dead', () => {
    const walk = new DagWalk(graph);
    const record = walkThrough(walk, () => ({ handle: 'else' }));
    expect(begunIds(record)).toEqual(['n0']);
    expect(record.skipped).toHaveLength(1_999);
    expect(record.skipped.find(({ nodeId }) => nodeId === 'n11')?.because).toHaveLength(10);
  });
});
