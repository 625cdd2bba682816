import { TestEngine } from '../../support/engine/test-engine.js';
import { fails, says } from '../../support/engine/scripted-runtime.js';
import { createTestDatabase, type TestDatabase } from '../../support/test-database.js';
import type { GraphData } from '../../../src/workflows/index.js';
import { agent, chain, edge, input, node, output, when } from './graphs.js';

const approval = node('ask', 'humanInput', {
  message: 'Fine, {{ in.who }}?',
  fields: [{ name: 'ok', type: 'boolean', required: true }],
});
const who = { name: 'who', type: 'string' } as const;

describe('runs that wait', () => {
  let database: TestDatabase;
  let test: TestEngine;
  beforeAll(async () => {
    database = await createTestDatabase({ poolSize: 8 });
  });
  afterAll(() => database.close());
  beforeEach(async () => {
    test = await TestEngine.start(database);
  });
  afterEach(() => test.stop());

  it('rests while a person is asked, holding nothing, and goes on with the answer', async () => {
    const workflow = await test.workflow(chain(input(who), approval, output({ ok: '{{ ask.ok }}' })));
    const runId = await test.start(workflow, { who: '王' });
    await test.untilResting(runId);
    const [visit] = (await test.visits.ofRun(runId)).filter(({ status }) => status === 'WAITING');
    expect(visit?.waiting).toMatchObject({ kind: 'person', message: 'Fine, 王?' });
    expect((await test.runs.find(runId))?.status).toBe('RUNNING');
    await expect(test.engine.answerHumanInput.execute(runId, 'ask', {})).rejects.toMatchObject({
      code: 'VALIDATION_FAILED',
      details: [{ field: 'ok' }],
    });
    await expect(test.engine.answerHumanInput.execute(runId, 'in', {})).rejects.toMatchObject({
      code: 'RUN_NOT_ACTIVE',
    });
    await expect(test.engine.answerHumanInput.execute(runId, 'ghost', {})).rejects.toMatchObject({
      code: 'NODE_NOT_FOUND',
    });
    const answers = await Promise.allSettled([
      test.engine.answerHumanInput.execute(runId, 'ask', { ok: true }),
      test.engine.answerHumanInput.execute(runId, 'ask', { ok: false }),
    ]);
    expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    const { run } = await test.end(runId);
    expect(run.outputs).toEqual({ ok: answers[0].status === 'fulfilled' });
  });

  it('holds no slot of the run while it waits, and lets it rest once nothing else is left', async () => {
    const workflow = await test.workflow(
      {
        nodes: [
          input(who),
          approval,
          agent('a'),
          agent('b'),
          output({ x: '{{ ask.ok }}{{ a.text }}{{ b.text }}' }),
        ],
        edges: ['ask', 'a', 'b'].flatMap((id) => [edge('in', id), edge(id, 'out')]),
      },
      { settings: { concurrency: 1 } },
    );
    const runId = await test.start(workflow, { who: 'x' });
    await test.untilResting(runId);
    const stored = await test.visits.ofRun(runId);
    expect(stored.map(({ nodeId, status }) => `${nodeId} ${status}`)).toEqual([
      ...['in SUCCESS', 'ask WAITING', 'a SUCCESS', 'b SUCCESS'],
    ]);
    await test.engine.answerHumanInput.execute(runId, 'ask', { ok: true });
    expect((await test.end(runId)).run.outputs).toEqual({ x: 'truea doneb done' });
  });

  it('is answered while another node still runs', async () => {
    let finish: () => void = () => undefined;
    test.runtime.on('busy', async () => {
      await new Promise<void>((resolve) => (finish = resolve));
      return [says('b')];
    });
    const workflow = await test.workflow({
      nodes: [input(who), approval, agent('busy', { failStrategy: 'skip' }), output({ ok: '{{ ask.ok }}' })],
      edges: [edge('in', 'ask'), edge('in', 'busy'), edge('ask', 'out'), edge('busy', 'out')],
    });
    const runId = await test.start(workflow, { who: 'x' });
    await test.until(
      async () => (await test.visits.ofRun(runId)).some(({ status }) => status === 'WAITING'),
      'the question',
    );
    await test.engine.answerHumanInput.execute(runId, 'ask', { ok: true });
    await test.until(
      async () =>
        (await test.visits.ofRun(runId)).some(
          ({ nodeId, status }) => nodeId === 'ask' && status === 'SUCCESS',
        ),
      'the answer to be taken',
    );
    finish();
    expect((await test.end(runId)).run.outputs).toEqual({ ok: true });
  });

  it('is answered item by item inside an iteration', async () => {
    const inner = { nodes: [approval, output({ ok: '{{ ask.ok }}' }, 'o')], edges: [edge('ask', 'o')] };
    const each = node('each', 'iteration', { items: [1, 2], graph: inner, concurrency: 2 });
    const workflow = await test.workflow(chain(input(who), each, output({ all: '{{ each.items }}' })));
    const runId = await test.start(workflow, { who: 'x' });
    const waiting = async (): Promise<number> =>
      (await test.visits.ofRun(runId)).filter(({ status }) => status === 'WAITING').length;
    await test.until(async () => (await waiting()) === 2, 'both items to ask');
    await test.engine.answerHumanInput.execute(runId, 'each.ask', { ok: true });
    await test.until(async () => (await waiting()) === 1, 'the first answer to be taken');
    await test.engine.answerHumanInput.execute(runId, 'each.ask', { ok: false });
    expect((await test.end(runId)).run.outputs).toEqual({ all: [{ ok: true }, { ok: false }] });
    await expect(test.engine.answerHumanInput.execute(runId, 'each.ghost', {})).rejects.toMatchObject({
      code: 'NODE_NOT_FOUND',
    });
  });

  it('keeps waiting over a restart', async () => {
    const workflow = await test.workflow(chain(input(who), approval, output({ ok: '{{ ask.ok }}' })));
    const runId = await test.start(workflow, { who: 'x' });
    await test.untilResting(runId);
    await test.engine.dispatcher.stop();
    await test.connections.close();
    test = await TestEngine.start(database, { owner: 'second', workspacesRoot: test.workspacesRoot });
    await test.engine.answerHumanInput.execute(runId, 'ask', { ok: true });
    expect((await test.end(runId)).run.outputs).toEqual({ ok: true });
    const stored = await test.store.readAfter(runId, 0, 100);
    expect(stored.map(({ seq }) => seq)).toEqual(stored.map((_, at) => at + 1));
  });

  it('cancels a run that rests', async () => {
    const workflow = await test.workflow(chain(input(who), approval, output({ ok: '{{ ask.ok }}' })));
    const runId = await test.start(workflow, { who: 'x' });
    await test.untilResting(runId);
    await test.engine.cancelRun.execute(runId);
    const { run, visit } = await test.end(runId);
    expect([run.statusReason, visit('ask')?.status, visit('out')?.status]).toEqual([
      'CANCELLED',
      'FAILED',
      'SKIPPED',
    ]);
    await expect(test.engine.answerHumanInput.execute(runId, 'ask', { ok: true })).rejects.toMatchObject({
      code: 'RUN_NOT_ACTIVE',
    });
  });

  it('runs another workflow as a run of its own and takes its outputs', async () => {
    const child = await test.workflow(
      chain(input(who), agent('c'), output({ said: '{{ c.text }} {{ in.who }}' })),
    );
    const call = node('call', 'subWorkflow', {
      workflowName: child.name,
      variables: { who: '{{ in.who }}' },
    });
    const workflow = await test.workflow(chain(input(who), call, output({ x: '{{ call.said }}' })));
    const { run } = await test.runToEnd(workflow, { who: '李' });
    expect(run).toMatchObject({ status: 'SUCCESS', outputs: { x: 'c done 李' } });
    const children = await database.dataSource.query<{ run_id: string }[]>(
      'SELECT run_id FROM runs WHERE parent_run_id = $1',
      [run.runId],
    );
    expect(children).toHaveLength(1);
  });

  it('fails with its child, refuses a cycle, and cancels its child with itself', async () => {
    const bad = await test.workflow(chain(input(), agent('bad'), output({ x: '1' })));
    test.runtime.on('bad', () => [fails('no luck')]);
    const call = (workflowName: string) => node('call', 'subWorkflow', { workflowName });
    const parent = await test.workflow(chain(input(), call(bad.name), output({ x: '1' })));
    const failed = await test.runToEnd(parent);
    expect(failed.run.error).toContain('no luck');

    const self = await test.workflow(chain(input(), call('self-flow'), output({ x: '1' })), {
      name: 'self-flow',
    });
    expect((await test.runToEnd(self)).run.errorDetail?.code).toBe('WORKFLOW_CYCLE');

    const waits = await test.workflow(chain(input(who), approval, output({ x: '1' })));
    const outer = await test.workflow(chain(input(), call(waits.name), output({ x: '1' })));
    const runId = await test.start(outer);
    await test.untilResting(runId);
    await test.engine.cancelRun.execute(runId);
    const [child] = await database.dataSource.query<{ run_id: string }[]>(
      'SELECT run_id FROM runs WHERE parent_run_id = $1',
      [runId],
    );
    expect((await test.end(child?.run_id ?? '')).run.statusReason).toBe('CANCELLED');
  });

  it('runs again from a node, taking over what came before and the files', async () => {
    let calls = 0;
    test.runtime.on('b', () => {
      calls += 1;
      return calls === 1 ? [fails('once')] : [says('b')];
    });
    const workflow = await test.workflow(
      chain(input(who), agent('a'), agent('b', { failStrategy: 'skip' }), output({ x: '{{ a.text }}' })),
    );
    const first = await test.runToEnd(workflow, { who: 'x' });
    const { run: again } = await test.engine.rerunRun.execute({
      runId: first.run.runId,
      fromNodeId: 'b',
      apiKeyName: null,
    });
    expect(again).toMatchObject({ rerunOf: first.run.runId });
    await test.engine.startRun.execute(again.runId);
    const second = await test.end(again.runId);
    expect(second.run.outputs).toEqual({ x: 'a done' });
    expect(test.runtime.callsOf('a')).toBe(1);
    expect(calls).toBe(2);
    const stored = await test.store.readAfter(again.runId, 0, 100);
    expect(stored[0]?.type).toBe('run_started');
    expect(stored.filter(({ payload }) => payload.includes('"nodeId":"a"'))).toHaveLength(2);
  });

  it('takes over nothing that comes after a node that acts again', async () => {
    let again = false;
    test.runtime
      .on('shaky', () => (again ? [says('held')] : [fails('gave way')]))
      .on('last', () => (again ? [says('end')] : [fails('no')]));
    const graphData: GraphData = {
      nodes: [
        input(),
        agent('sound'),
        agent('shaky', { failStrategy: 'skip' }),
        when('choose', [{ id: 'never', variable: 'sound.text', operator: 'equals', value: 'x' }]),
        agent('untaken'),
        agent('beside'),
        agent('join'),
        agent('last'),
        output({ x: '{{ last.text }}' }),
      ],
      edges: [
        edge('in', 'sound'),
        edge('in', 'shaky'),
        edge('sound', 'choose'),
        edge('choose', 'untaken', 'never'),
        edge('choose', 'beside', 'else'),
        edge('untaken', 'beside'),
        edge('beside', 'join'),
        edge('shaky', 'join'),
        edge('join', 'last'),
        edge('last', 'out'),
      ],
    };
    const first = await test.runToEnd(await test.workflow(graphData));
    expect(first.run.status).toBe('FAILED');
    expect([first.visit('shaky')?.status, first.visit('join')?.status]).toEqual(['FAILED', 'SUCCESS']);
    again = true;
    const { run } = await test.engine.rerunRun.execute({ runId: first.run.runId, apiKeyName: null });
    await test.engine.startRun.execute(run.runId);
    const second = await test.end(run.runId);
    expect(second.run.outputs).toEqual({ x: 'end' });
    const acted = (nodeId: string): number => test.runtime.callsOf(nodeId);
    expect(['sound', 'beside', 'shaky', 'join', 'last'].map(acted)).toEqual([1, 1, 2, 2, 2]);
    // Each node once, and a predecessor always before what comes after it.
    const nodeIds = second.visits.map(({ nodeId }) => nodeId);
    expect([...new Set(nodeIds)]).toEqual(nodeIds);
    const orderOf = new Map(second.visits.map(({ visitUuid, sortOrder }) => [visitUuid, sortOrder]));
    for (const { sortOrder, predecessors } of second.visits) {
      for (const uuid of predecessors) expect(orderOf.get(uuid)).toBeLessThan(sortOrder);
    }
    const nameOf = new Map(second.visits.map(({ visitUuid, nodeId }) => [visitUuid, nodeId]));
    const before = second.visit('join')?.predecessors.map((uuid) => nameOf.get(uuid));
    expect(before?.sort()).toEqual(['beside', 'shaky']);
  });
});
