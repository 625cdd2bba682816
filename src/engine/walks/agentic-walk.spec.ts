import fc from 'fast-check';
import {
  graphOf,
  walkThrough,
  type VisitEnd,
  type WalkRecord,
} from '../../../test/factories/walked-graph.js';
import type { JsonObject } from '../../common/json/json-value.js';
import type { NodeType } from '../../workflows/graph/graph-data.js';
import type { AgenticRules } from './agentic-rules.js';
import { AgenticWalk } from './agentic-walk.js';

const rules: AgenticRules = {
  planner: 'edges',
  model: null,
  scope: 'graph',
  maxParallel: Number.MAX_SAFE_INTEGER,
  goal: 'a goal',
  maxVisits: 200,
  maxVisitsPerNode: Number.MAX_SAFE_INTEGER,
};
const IN: Record<string, NodeType> = { in: 'userInput' };
const joinAll = (...ids: string[]): Record<string, JsonObject> =>
  Object.fromEntries(ids.map((id) => [id, { join: 'all' }]));

/** The visits of a node with those they came from. */
function visitsOf({ begun }: WalkRecord, id: string): string[][] {
  return begun.filter(({ nodeId }) => nodeId === id).map(({ predecessors }) => predecessors);
}

describe('by edges', () => {
  it('visits the nodes of a superstep together, and what they lead to only when all have ended', () => {
    const graph = graphOf(['in>a', 'in>b', 'a>c', 'b>d', 'c>d'], IN);
    const { steps, begun } = walkThrough(
      new AgenticWalk(graph, rules),
      () => 'ok',
      () => 1,
    );
    expect(steps).toEqual([['in'], ['a', 'b'], ['c', 'd'], ['d']]);
    expect(begun.map(({ uuid, predecessors }) => [uuid, predecessors])).toEqual([
      ['in1', []],
      ['a1', ['in1']],
      ['b1', ['in1']],
      ['c1', ['a1']],
      ['d1', ['b1']],
      ['d2', ['c1']],
    ]);
  });

  it('visits a node once for several edges fired together, with all of them as predecessors', () => {
    const graph = graphOf(['in>a', 'in>b', 'a>c', 'b>c', 'a>c'], IN);
    expect(visitsOf(walkThrough(new AgenticWalk(graph, rules)), 'c')).toEqual([['a1', 'b1']]);
  });

  it('follows only the chosen outcome of a condition, and none of a failed one', () => {
    const graph = graphOf(['in>c', 'c:yes>a', 'c:else>b', 'c>always'], { ...IN, c: 'condition' });
    const steps = (end: VisitEnd) =>
      walkThrough(new AgenticWalk(graph, rules), (node) => (node === 'c' ? end : 'ok')).steps;
    expect(steps({ handle: 'yes' })).toEqual([['in'], ['c'], ['a', 'always']]);
    expect(steps({ handle: 'else' })).toEqual([['in'], ['c'], ['b', 'always']]);
    expect(steps('failed')).toEqual([['in'], ['c']]);
  });

  it('goes round a cycle until its condition says stop', () => {
    const graph = graphOf(['in>w', 'w>c', 'c:again>w', 'c:else>out'], {
      ...IN,
      c: 'condition',
      out: 'output',
    });
    const walk = new AgenticWalk(graph, rules);
    const record = walkThrough(walk, (node, iterSeq) => {
      if (node === 'c') return { handle: iterSeq < 3 ? 'again' : 'else' };
      return node === 'out' ? { data: { done: true } } : 'ok';
    });
    expect(record.begun.map(({ uuid }) => uuid)).toEqual(['in1', 'w1', 'c1', 'w2', 'c2', 'w3', 'c3', 'out1']);
    expect(visitsOf(record, 'w')).toEqual([['in1'], ['c1'], ['c2']]);
    expect(walk.outcome()).toEqual({ kind: 'success', outputs: { done: true } });
  });

  it('ends with the superstep in which an output succeeds, and not with one that fails', () => {
    const graph = graphOf(['in>out', 'in>a', 'a>b', 'b>last'], { ...IN, out: 'output', last: 'output' });
    const walk = new AgenticWalk(graph, rules);
    const record = walkThrough(walk, (node) => (node === 'out' ? { data: { x: 1 } } : 'ok'));
    expect(record.steps).toEqual([['in'], ['out', 'a']]);
    expect(walk.outcome()).toEqual({ kind: 'success', outputs: { x: 1 } });
    expect(walk.undecided()).toEqual(['b', 'last']);
    const other = new AgenticWalk(graph, rules);
    walkThrough(other, (node) => (node === 'out' ? 'failed' : { data: { from: node } }));
    expect(other.outcome()).toEqual({ kind: 'success', outputs: { from: 'last' } });
  });

  it('fails with the first failure where nothing fires any more and no output was reached', () => {
    const graph = graphOf(['in>a'], IN);
    const walk = new AgenticWalk(graph, rules);
    walkThrough(walk, (node) => (node === 'a' ? 'failed' : 'ok'));
    expect(walk.outcome()).toMatchObject({
      kind: 'failure',
      reason: 'NODE_FAILED',
      nodeId: 'a',
      visitUuid: 'a1',
    });
    const fine = new AgenticWalk(graph, rules);
    walkThrough(fine);
    expect(fine.outcome()).toEqual({ kind: 'success', outputs: {} });
  });
});

describe('join: all', () => {
  const walked = (
    edges: string[],
    joins: string[],
    end?: (node: string, seq: number) => VisitEnd,
    types = {},
  ) =>
    walkThrough(
      new AgenticWalk(graphOf(edges, { ...IN, ...types }, joinAll(...joins)), { ...rules, maxVisits: 40 }),
      end,
    );

  it('waits for branches of unequal length and is visited once', () => {
    const record = walked(['in>a', 'in>b1', 'b1>b2', 'b2>b3', 'a>j', 'b3>j', 'j>end'], ['j']);
    expect(visitsOf(record, 'j')).toEqual([['a1', 'b31']]);
    expect(visitsOf(record, 'end')).toEqual([['j1']]);
  });

  it('does not wait for a branch that was not chosen', () => {
    const edges = ['in>a', 'in>c', 'c:yes>b1', 'b1>b2', 'b2>j', 'a>j', 'c:else>x'];
    const choose =
      (handle: string) =>
      (node: string): VisitEnd =>
        node === 'c' ? { handle } : 'ok';
    const types = { c: 'condition' as const };
    expect(visitsOf(walked(edges, ['j'], choose('else'), types), 'j')).toEqual([['a1']]);
    expect(visitsOf(walked(edges, ['j'], choose('yes'), types), 'j')).toEqual([['a1', 'b21']]);
    expect(
      visitsOf(
        walked(edges, ['j'], (node) => (node === 'c' ? 'failed' : 'ok'), types),
        'j',
      ),
    ).toEqual([['a1']]);
  });

  it('never waits for its own back edge, and is visited for it alone', () => {
    const edges = ['in>j', 'j>w', 'w:again>j', 'w:else>end'];
    const record = walked(
      edges,
      ['j'],
      (node, seq) => (node === 'w' ? { handle: seq < 3 ? 'again' : 'else' } : 'ok'),
      { w: 'condition' },
    );
    expect(visitsOf(record, 'j')).toEqual([['in1'], ['w1'], ['w2']]);
    expect(visitsOf(record, 'end')).toEqual([['w3']]);
  });

  it('gathers its forward edges anew in every round', () => {
    const edges = ['in>s', 's>a', 's>b1', 'b1>b2', 'a>j', 'b2>j', 'j:again>s', 'j:else>end'];
    const record = walked(
      edges,
      ['j'],
      (node, seq) => (node === 'j' ? { handle: seq < 2 ? 'again' : 'else' } : 'ok'),
      { j: 'condition' },
    );
    expect(visitsOf(record, 'j')).toEqual([
      ['a1', 'b21'],
      ['a2', 'b22'],
    ]);
  });

  it('goes on when only another waiting join could bring what is missing', () => {
    // j1 waits for j2 and j2 for j1: each is reached, none can be complete.
    const record = walked(['in>a', 'a>j1', 'a>j2', 'x>j1', 'j1>y', 'y>j2', 'j2>z', 'z>x'], ['j1', 'j2']);
    expect(visitsOf(record, 'j1').length).toBeGreaterThan(0);
    expect(visitsOf(record, 'j2').length).toBeGreaterThan(0);
    expect(visitsOf(record, 'j2')[0]).toContain('y1');
  });

  it('waits for a chain of joins', () => {
    const record = walked(
      ['in>a', 'in>b', 'in>c1', 'c1>c2', 'a>j1', 'b>j1', 'j1>j2', 'c2>j2', 'in>j2'],
      ['j1', 'j2'],
    );
    expect(visitsOf(record, 'j1')).toEqual([['a1', 'b1']]);
    expect(visitsOf(record, 'j2')).toEqual([['in1', 'c21', 'j11']]);
  });

  it('counts a failed predecessor that the run goes on from', () => {
    const record = walked(['in>a', 'in>b', 'a>j', 'b>j'], ['j'], (node) => (node === 'a' ? 'failed' : 'ok'));
    expect(visitsOf(record, 'j')).toEqual([['a1', 'b1']]);
  });
});

describe('caps', () => {
  const cycle = graphOf(['in>a', 'a>b', 'b>a'], IN);

  it.each([1, 2, 7])('records %d visits of the run and not the next', (maxVisits) => {
    const walk = new AgenticWalk(cycle, { ...rules, maxVisits });
    const record = walkThrough(walk);
    expect(record.begun).toHaveLength(maxVisits);
    const next = maxVisits % 2 === 1 ? 'a' : 'b';
    expect(walk.outcome()).toEqual({
      kind: 'failure',
      reason: 'MAX_VISITS',
      nodeId: next,
      visitUuid: null,
      error: `node ${next} would be visit ${maxVisits + 1} of the run, which may have ${maxVisits}`,
    });
  });

  it('counts the visits of one node', () => {
    const walk = new AgenticWalk(cycle, { ...rules, maxVisitsPerNode: 3 });
    const record = walkThrough(walk);
    expect(record.begun.filter(({ nodeId }) => nodeId === 'a')).toHaveLength(3);
    expect(walk.outcome()).toMatchObject({
      reason: 'MAX_VISITS',
      nodeId: 'a',
      error: 'node a would be visited 4 times, which may be visited 3 times',
    });
  });

  it('begins what still fits of a batch, in order, and fails when that has ended', () => {
    const graph = graphOf(['in>a', 'in>b', 'in>c', 'in>d'], { ...IN, a: 'output' });
    const walk = new AgenticWalk(graph, { ...rules, maxVisits: 3 });
    const record = walkThrough(walk);
    expect(record.steps).toEqual([['in'], ['a', 'b']]);
    expect(walk.outcome()).toMatchObject({ reason: 'MAX_VISITS', nodeId: 'c' });
  });

  it('does not count the planner', () => {
    const plan = (seq: number): VisitEnd => ({
      data: { next: [{ nodeId: seq % 2 ? 'a' : 'b' }], finish: false, asks: 1 },
    });
    const walk = new AgenticWalk(cycle, { ...rules, planner: 'llm', maxVisits: 4 });
    const { begun } = walkThrough(walk, (node, seq) => (node === 'planner' ? plan(seq) : 'ok'));
    expect(begun.map(({ uuid }) => uuid)).toEqual([
      'in1',
      'planner1',
      'a1',
      'planner2',
      'b1',
      'planner3',
      'a2',
      'planner4',
    ]);
    expect(walk.outcome()).toMatchObject({ reason: 'MAX_VISITS', nodeId: 'b' });
  });
});

describe('by a model', () => {
  const graph = graphOf(
    ['in>a', 'a>b', 'c:x>a', 'c:y>out'],
    { ...IN, c: 'condition', out: 'output' },
    { a: { label: 'First' } },
  );

  /** Each plan is `a,b`, `END`, or with `!` in front one that took two asks. */
  function planned(
    plans: string[],
    more: Partial<AgenticRules> = {},
    endOf: (node: string) => VisitEnd = () => 'ok',
  ) {
    const walk = new AgenticWalk(graph, { ...rules, planner: 'llm', ...more });
    const questions: JsonObject[] = [];
    const record = walkThrough(walk, (node, seq) => {
      if (node !== 'planner') return endOf(node);
      questions[seq - 1] = walk.node('planner')?.data ?? {};
      const text = plans[seq - 1] ?? 'END';
      const ids = text.replace('!', '').split(',');
      const finish = text === 'END';
      const next = finish ? [] : ids.map((nodeId) => ({ nodeId, reason: 'r' }));
      return { data: { next, finish, asks: text.startsWith('!') ? 2 : 1 } };
    });
    return { walk, record, questions };
  }

  it('follows the plans until one says finish', () => {
    const { walk, record } = planned(['b', 'a,c', 'END']);
    expect(record.steps).toEqual([['in'], ['planner'], ['b'], ['planner'], ['a', 'c'], ['planner']]);
    expect(walk.outcome()).toEqual({ kind: 'success', outputs: {} });
  });

  it('ends when an output succeeds, without asking again', () => {
    const { walk, record } = planned(['out'], {}, (node) => (node === 'out' ? { data: { x: 1 } } : 'ok'));
    expect(record.steps).toEqual([['in'], ['planner'], ['out']]);
    expect(walk.outcome()).toEqual({ kind: 'success', outputs: { x: 1 } });
  });

  it('finishes as success in spite of failures that were skipped', () => {
    const { walk } = planned(['a'], {}, (node) => (node === 'a' ? 'failed' : 'ok'));
    expect(walk.outcome()).toEqual({ kind: 'success', outputs: {} });
  });

  it('names as predecessors the visits of the last batch with an edge to the node, else all of it', () => {
    const { record } = planned(['a,c', 'b,a', 'out']);
    const of = (uuid: string) => record.begun.find((visit) => visit.uuid === uuid)?.predecessors;
    expect(of('planner1')).toEqual(['in1']);
    expect(of('a1')).toEqual(['in1']);
    expect(of('c1')).toEqual(['in1']);
    expect(of('planner2')).toEqual(['a1', 'c1']);
    expect(of('b1')).toEqual(['a1']);
    expect(of('a2')).toEqual(['c1']);
    expect(of('out1')).toEqual(['b1', 'a2']);
  });

  it('visits a node once that a plan names twice', () => {
    expect(planned(['a,a,b,a']).record.steps).toEqual([['in'], ['planner'], ['a', 'b'], ['planner']]);
  });

  it('puts what the planner needs to know into its node', () => {
    const { questions } = planned(['!a', 'b'], { maxParallel: 3, maxVisits: 10, model: 'm' }, (node) =>
      node === 'a' ? { data: { text: `${'x'.repeat(488)}😀😀` } } : 'failed',
    );
    expect(questions[0]).toEqual({
      label: 'Planner',
      goal: 'a goal',
      model: 'm',
      maxParallel: 3,
      asks: 0,
      visitsLeft: 9,
      candidates: [
        { nodeId: 'a', type: 'template', label: 'First' },
        { nodeId: 'b', type: 'template', label: 'b' },
        { nodeId: 'c', type: 'condition', label: 'c' },
        { nodeId: 'out', type: 'output', label: 'out' },
      ],
      history: [{ nodeId: 'in', visit: 1, status: 'failed', data: 'in is broken' }],
    });
    expect(questions[1]).toMatchObject({ asks: 2, visitsLeft: 8 });
    expect(questions[2]).toMatchObject({ asks: 3, visitsLeft: 7 });
    const [, a] = questions[1]?.history as JsonObject[];
    expect(a).toMatchObject({ nodeId: 'a', visit: 1, status: 'succeeded' });
    expect(a?.data).toBe(`{"text":"${'x'.repeat(488)}😀…`);
    expect(() => encodeURIComponent(a?.data as string)).not.toThrow();
  });

  it('offers only what fired edges lead to, where it may follow edges only', () => {
    const { questions } = planned(['a', 'c'], { scope: 'edges' }, (node) =>
      node === 'c' ? { handle: 'y' } : 'ok',
    );
    const offered = questions.map(({ candidates }) =>
      (candidates as JsonObject[]).map(({ nodeId }) => nodeId),
    );
    expect(offered).toEqual([['a'], ['b'], ['out']]);
  });

  it('shows the last fifty visits', () => {
    const { questions } = planned(Array(60).fill('a') as string[]);
    const history = questions[60]?.history as JsonObject[];
    expect([history.length, history[0]?.visit, history[49]?.visit]).toEqual([50, 11, 60]);
  });
});

describe('any graph, cycles included', () => {
  const anyCase = fc
    .record({
      size: fc.integer({ min: 1, max: 10 }),
      wires: fc.array(fc.tuple(fc.nat(9), fc.nat(9), fc.constantFrom('', ':x', ':y')), { maxLength: 25 }),
      conditions: fc.array(fc.boolean(), { minLength: 10, maxLength: 10 }),
      joins: fc.array(fc.boolean(), { minLength: 10, maxLength: 10 }),
      outputs: fc.array(fc.nat(9), { maxLength: 1 }),
      maxVisits: fc.integer({ min: 1, max: 60 }),
      maxVisitsPerNode: fc.integer({ min: 1, max: 20 }),
      ends: fc.array(fc.constantFrom<VisitEnd>('ok', 'failed', { handle: 'x' }, { handle: 'y' }), {
        minLength: 7,
        maxLength: 7,
      }),
      order: fc.array(fc.nat(100), { minLength: 1, maxLength: 20 }),
    })
    .map(({ size, wires, conditions, joins, outputs, maxVisits, maxVisitsPerNode, ends, order }) => {
      const types: Record<string, NodeType> = { ...IN };
      for (let at = 0; at < size; at += 1) types[`n${at}`] = conditions[at] ? 'condition' : 'template';
      for (const at of outputs) types[`n${at % size}`] = 'output';
      const edges = wires.map(([from, to, handle]) => {
        const source = `n${from % size}`;
        return `${source}${types[source] === 'condition' ? handle : ''}>n${to % size}`;
      });
      const data = joinAll(...Array.from({ length: size }, (_, at) => `n${at}`).filter((_, at) => joins[at]));
      const graph = graphOf(['in>n0', ...edges], types, data);
      const endOf = (node: string, seq: number): VisitEnd =>
        ends[(node.charCodeAt(1) + seq * 3) % ends.length] ?? 'ok';
      return { graph, rules: { ...rules, maxVisits, maxVisitsPerNode }, endOf, order };
    });

  it('comes to an end within its caps, and decides the same whatever the order of ending', () => {
    fc.assert(
      fc.property(anyCase, ({ graph, rules: given, endOf, order }) => {
        const walks = [order, [0], [1_000_003]].map((picks) => {
          let at = 0;
          const walk = new AgenticWalk(graph, given);
          const record = walkThrough(walk, endOf, () => picks[at++ % picks.length] ?? 0);
          return { walk, record };
        });
        const [first] = walks;
        if (!first) throw new Error('there is a first');
        const { record, walk } = first;
        expect(record.begun.length).toBeLessThanOrEqual(given.maxVisits);
        const counts = new Map<string, number>();
        for (const { nodeId, iterSeq } of record.begun) {
          expect(iterSeq).toBe((counts.get(nodeId) ?? 0) + 1);
          counts.set(nodeId, iterSeq);
        }
        for (const count of counts.values()) expect(count).toBeLessThanOrEqual(given.maxVisitsPerNode);
        for (const visit of record.begun) {
          for (const uuid of visit.predecessors) {
            const source = record.begun.find((one) => one.uuid === uuid)?.nodeId ?? '';
            expect(graph.incoming(visit.nodeId).some((edge) => edge.source === source)).toBe(true);
          }
        }
        for (const other of walks) {
          expect(other.record.begun.map(({ uuid }) => uuid)).toEqual(record.begun.map(({ uuid }) => uuid));
          expect(other.walk.outcome().kind).toBe(walk.outcome().kind);
        }
      }),
      { numRuns: 400 },
    );
  });

  it('leaves no join behind that something reached', () => {
    fc.assert(
      fc.property(anyCase, ({ graph, rules: given, endOf }) => {
        const walk = new AgenticWalk(graph, { ...given, maxVisits: 1_000, maxVisitsPerNode: 8 });
        const { begun } = walkThrough(walk, endOf);
        const outcome = walk.outcome();
        const reachedOutput = begun.some(({ nodeId }) => graph.node(nodeId)?.type === 'output');
        // Ended because nothing fired any more.
        if (reachedOutput || (outcome.kind === 'failure' && outcome.reason === 'MAX_VISITS')) return;
        const used = new Set(begun.flatMap(({ predecessors }) => predecessors));
        for (const { nodeId, uuid, iterSeq } of begun) {
          const end = endOf(nodeId, iterSeq);
          const fired = graph.outgoing(nodeId).filter((edge) => {
            if (end === 'failed') return graph.node(nodeId)?.type !== 'condition';
            const handle = typeof end === 'object' ? end.handle : null;
            return edge.sourceHandle === null || edge.sourceHandle === handle;
          });
          const toJoinOnly = fired.every(({ target }) => graph.node(target)?.data.join === 'all');
          // A join takes the last visit of a source, so an earlier one may be overtaken there.
          if (fired.length > 0 && !toJoinOnly) expect(used).toContain(uuid);
          for (const { target } of fired) expect(begun.some((visit) => visit.nodeId === target)).toBe(true);
        }
      }),
      { numRuns: 400 },
    );
  });
});
