import type { WorkflowSettings } from '../../../src/workflows/index.js';
import { fails, says, thinks, untilAborted } from '../../support/engine/scripted-runtime.js';
import type { TestEngine } from '../../support/engine/test-engine.js';
import { TestEngines } from '../../support/engine/test-engines.js';
import { agent, edge, input, node, output, when } from './graphs.js';

const llm: WorkflowSettings = { goal: 'Write it.', planner: { type: 'llm', model: 'demo' } };

describe('agentic runs', () => {
  let engines: TestEngines;
  const start = (options?: { owner?: string; leaseSeconds?: number }): Promise<TestEngine> =>
    engines.start(options);
  beforeAll(async () => {
    engines = await TestEngines.open();
  });
  afterEach(() => engines.stop());
  afterAll(() => engines.close());

  /** A planner that answers one of these after the other, by its plan index. */
  function plans(test: TestEngine, ...answers: string[]): void {
    test.runtime.on('planner', ({ workbench }) => {
      const answer = answers[workbench?.planIndex ?? 0] ?? 'END';
      const next =
        answer === 'END' ? [] : answer.split(',').map((nodeId) => ({ nodeId, reason: `for ${nodeId}` }));
      const plan = { next, finish: answer === 'END' };
      return [thinks('I think'), says(JSON.stringify(plan), plan)];
    });
  }

  const pair = () => ({
    nodes: [input(), agent('a'), agent('b'), output({ x: '{{ a.text }}+{{ b.text }}' })],
    edges: [edge('in', 'a'), edge('a', 'b'), edge('b', 'out')],
  });

  it.each(['fails', 'is cancelled'])(
    'shows what was visited, not what was to be once more, when it %s',
    async (how) => {
      const test = await start();
      let isAsked = false;
      test.runtime.on('f', (_request, signal) => {
        isAsked = true;
        return how === 'fails' ? [fails('no')] : untilAborted(signal);
      });
      const graph = {
        nodes: [input(), agent('w'), agent('f'), agent('never'), output({})],
        edges: [
          ...[edge('in', 'w'), edge('w', 'f'), edge('w', 'w'), edge('f', 'never'), edge('never', 'out')],
        ],
      };
      // One slot: while f acts, the second visit of w waits for it.
      const workflow = await test.workflow(graph, { mode: 'AGENTIC', settings: { concurrency: 1 } });
      const runId = await test.start(workflow);
      await test.until(() => isAsked, 'f to act');
      if (how === 'is cancelled') await test.engine.cancelRun.execute(runId);
      const { visits } = await test.end(runId);
      expect(visits.map(({ nodeId, iterSeq, status }) => `${nodeId} ${iterSeq} ${status}`)).toEqual([
        ...['in 1 SUCCESS', 'w 1 SUCCESS', 'f 1 FAILED', 'never 1 SKIPPED', 'out 1 SKIPPED'],
      ]);
    },
  );

  it('goes round a cycle by edges, each visit with its own number and predecessors', async () => {
    const test = await start();
    const graph = {
      nodes: [
        input(),
        node('w', 'code', { code: 'return { n: inputs.n + 1 }', inputs: { n: '{{ w.n | default: 0 }}' } }),
        when('c', [{ id: 'again', variable: 'w.n', operator: 'lessThan', value: 3 }]),
        output({ n: '{{ w.n }}' }),
      ],
      edges: [edge('in', 'w'), edge('w', 'c'), edge('c', 'w', 'again'), edge('c', 'out', 'else')],
    };
    const { run, visits } = await test.runToEnd(await test.workflow(graph, { mode: 'AGENTIC' }));
    expect(run).toMatchObject({ status: 'SUCCESS', outputs: { n: 3 } });
    expect(visits.map(({ nodeId, iterSeq }) => `${nodeId}${iterSeq}`)).toEqual([
      ...['in1', 'w1', 'c1', 'w2', 'c2', 'w3', 'c3', 'out1'],
    ]);
    const of = (id: string, seq: number) =>
      visits.find(({ nodeId, iterSeq }) => nodeId === id && iterSeq === seq);
    expect(of('w', 2)?.predecessors).toEqual([of('c', 1)?.visitUuid]);
  });

  it('follows a model’s plans and shows its reasoning in the stream', async () => {
    const test = await start();
    plans(test, 'a,b', 'out');
    const workflow = await test.workflow(pair(), { mode: 'AGENTIC', settings: llm });
    const { run, visits } = await test.runToEnd(workflow);
    expect(run).toMatchObject({ status: 'SUCCESS', outputs: { x: 'a done+b done' } });
    expect(visits.map(({ nodeId, iterSeq }) => `${nodeId}${iterSeq}`)).toEqual([
      ...['in1', 'planner1', 'a1', 'b1', 'planner2', 'out1'],
    ]);
    const said = test.events.filter(
      ({ type, event }) => type === 'node_stream' && 'visit' in event && event.visit.nodeId === 'planner',
    );
    expect(said.map(({ payload }) => (JSON.parse(payload) as { content: string }).content)).toContain(
      'I think',
    );
    const [, second] = test.runtime.requests.filter(({ workbench }) => workbench?.nodeId === 'planner');
    expect(second?.inputEnvelope.instruction).toContain('"nodeId":"a","visit":1,"status":"succeeded"');
  });

  it('asks again after an unknown node, and fails saying so after the second', async () => {
    const test = await start();
    plans(test, 'ghost', 'out');
    const workflow = await test.workflow(pair(), { mode: 'AGENTIC', settings: llm });
    expect((await test.runToEnd(workflow)).run.status).toBe('SUCCESS');
    plans(test, 'ghost', 'phantom');
    const { run, visit } = await test.runToEnd(workflow);
    expect(run).toMatchObject({ status: 'FAILED', statusReason: 'PLANNER_FAILED' });
    expect(run.error).toContain('"phantom"');
    expect(visit('planner')).toMatchObject({ status: 'FAILED', errorCode: 'PLANNER_FAILED' });
  });

  it('fails as PLANNER_FAILED too where the model fails', async () => {
    const test = await start();
    test.runtime.on('planner', () => [fails('no credit')]);
    const workflow = await test.workflow(pair(), { mode: 'AGENTIC', settings: llm });
    const { run } = await test.runToEnd(workflow);
    expect(run).toMatchObject({ statusReason: 'PLANNER_FAILED', error: 'no credit' });
  });

  it('is a success with empty outputs where the planner finishes without one', async () => {
    const test = await start();
    plans(test, 'a', 'END');
    const { run } = await test.runToEnd(await test.workflow(pair(), { mode: 'AGENTIC', settings: llm }));
    expect(run).toMatchObject({ status: 'SUCCESS', outputs: {} });
  });

  it('records as many visits as its cap and not the next', async () => {
    const test = await start();
    plans(test, 'a', 'a,b', 'a,b');
    const settings = { ...llm, maxVisits: 5 };
    const { run, visits } = await test.runToEnd(await test.workflow(pair(), { mode: 'AGENTIC', settings }));
    expect(run).toMatchObject({ status: 'FAILED', statusReason: 'MAX_VISITS' });
    expect(run.error).toBe('node b would be visit 6 of the run, which may have 5');
    const visited = visits.filter(({ nodeId, status }) => nodeId !== 'planner' && status !== 'SKIPPED');
    expect(visited.map(({ nodeId }) => nodeId)).toEqual(['in', 'a', 'a', 'b', 'a']);
  });

  it('asks the planner again after a restart, with the same index, and repeats no visit', async () => {
    const first = await start({ owner: 'first' });
    plans(first, 'a');
    const planner = first.runtime.scripts.get('planner');
    first.runtime.on('planner', (request, signal) =>
      request.workbench?.planIndex === 1 ? untilAborted(signal) : (planner?.(request, signal) ?? []),
    );
    const workflow = await first.workflow(pair(), { mode: 'AGENTIC', settings: llm });
    const runId = await first.start(workflow);
    await first.until(() => first.runtime.callsOf('planner') === 2, 'the second question');
    await first.engine.dispatcher.stop();
    const second = await start({ owner: 'second' });
    plans(second, 'never', 'b', 'out');
    const { run, visits } = await second.end(runId);
    expect(run.outputs).toEqual({ x: 'a done+b done' });
    expect(second.runtime.callsOf('a')).toBe(0);
    expect(visits.map(({ nodeId, iterSeq, attempt }) => `${nodeId}${iterSeq}/${attempt}`)).toEqual([
      ...['in1/1', 'planner1/1', 'a1/1', 'planner2/2', 'b1/1', 'planner3/1', 'out1/1'],
    ]);
  });
});
