import { jest } from '@jest/globals';
import { TestEngine } from '../../support/engine/test-engine.js';
import { fails, says, thinks, untilAborted } from '../../support/engine/scripted-runtime.js';
import { createTestDatabase, type TestDatabase } from '../../support/test-database.js';
import { agent, chain, edge, input, node, output, when } from './graphs.js';

const topic = { name: 'topic', type: 'string', required: true } as const;

describe('a DAG run', () => {
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

  it('walks a chain, keeps types and gives outputs', async () => {
    const workflow = await test.workflow(
      chain(
        input(topic),
        node('hello', 'template', { template: '你好 {{ in.topic }}' }),
        agent('a'),
        output({ greeting: '{{ hello.text }}', count: '{{ a.count }}', list: '{{ a.list }}' }),
      ),
    );
    test.runtime.on('a', () => [thinks('嗯'), says('x', { count: 7, list: [1, 'zwei'] })]);
    const { run, visits } = await test.runToEnd(workflow, { topic: '世界' });
    expect(run.status).toBe('SUCCESS');
    expect(run.outputs).toEqual({ greeting: '你好 世界', count: 7, list: [1, 'zwei'] });
    expect(visits.map(({ nodeId, status }) => [nodeId, status])).toEqual([
      ['in', 'SUCCESS'],
      ['hello', 'SUCCESS'],
      ['a', 'SUCCESS'],
      ['out', 'SUCCESS'],
    ]);
    expect(visits[0]?.envelope).toEqual({ status: 200, message: '调用成功', data: { topic: '世界' } });
  });

  it('numbers its events without gaps, terminal event last, and stores what the bus carried', async () => {
    const workflow = await test.workflow(
      chain(input(), agent('a'), agent('b'), output({ x: '{{ b.text }}' })),
    );
    const { run } = await test.runToEnd(workflow);
    const seen = test.events.filter(({ runId }) => runId === run.runId);
    expect(seen.map(({ seq }) => seq)).toEqual(seen.map((_, at) => at + 1));
    expect(seen[0]?.type).toBe('run_started');
    expect(seen.at(-1)?.type).toBe('workflow_complete');
    const stored = await test.store.readAfter(run.runId, 0, 1000);
    expect(stored).toEqual(seen.map(({ seq, type, payload }) => ({ seq, type, payload })));
  });

  it('stores the end of one node with the beginning of the next: a commit a node, the input among the first', async () => {
    const commits = jest.spyOn(test.connections.journal, 'query');
    const workflow = await test.workflow(
      chain(input(), node('t', 'template', { template: 'x' }), output({ x: '{{ t.text }}' })),
    );
    const { run, visits } = await test.runToEnd(workflow);
    expect(run.outputs).toEqual({ x: 'x' });
    // [in begins and ends, t begins], [t ends, out begins], [out ends, the run ends]
    expect(commits).toHaveBeenCalledTimes(3);
    const [first] = visits;
    expect([first?.nodeId, first?.completedAt]).toEqual(['in', first?.startedAt]);
  });

  it('moves an input that is too large for the database into the workspace', async () => {
    const workflow = await test.workflow(chain(input(), output({ bytes: '{{ in._bytes }}' })));
    const { run } = await test.runToEnd(workflow, { big: 'x'.repeat(11 * 1024 * 1024) });
    expect(run.outputs).toEqual({ bytes: 11 * 1024 * 1024 + '{"big":""}'.length });
  });

  it('runs a fan-out side by side and joins once', async () => {
    const waiting: (() => void)[] = [];
    const both = new Promise<void>((resolve) => {
      for (const id of ['l', 'r']) {
        test.runtime.on(id, async () => {
          await new Promise<void>((go) => {
            waiting.push(go);
            if (waiting.length === 2) resolve();
          });
          return [says(id)];
        });
      }
    });
    const workflow = await test.workflow({
      nodes: [input(), agent('l'), agent('r'), agent('join'), output({ x: '{{ l.text }}{{ r.text }}' })],
      edges: [edge('in', 'l'), edge('in', 'r'), edge('l', 'join'), edge('r', 'join'), edge('join', 'out')],
    });
    const runId = await test.start(workflow);
    await both;
    for (const go of waiting) go();
    const { run, visit } = await test.end(runId);
    expect(run.outputs).toEqual({ x: 'lr' });
    expect(test.runtime.callsOf('join')).toBe(1);
    const left = visit('l')?.visitUuid ?? '';
    const right = visit('r')?.visitUuid ?? '';
    expect(new Set(visit('join')?.predecessors)).toEqual(new Set([left, right]));
  });

  it('skips what a condition did not choose, and joins behind it', async () => {
    const workflow = await test.workflow({
      nodes: [
        input(topic),
        when('c', [{ id: 'long', variable: 'in.topic', operator: 'equals', value: '长' }]),
        agent('essay'),
        agent('polish'),
        agent('note'),
        output({ t: '{{ essay.text }}{{ note.text }}' }),
      ],
      edges: [
        edge('in', 'c'),
        edge('c', 'essay', 'long'),
        edge('essay', 'polish'),
        edge('c', 'note', 'else'),
        edge('polish', 'out'),
        edge('note', 'out'),
      ],
    });
    const { run, visit } = await test.runToEnd(workflow, { topic: '短' });
    expect(run.outputs).toEqual({ t: 'note done' });
    expect(visit('essay')).toMatchObject({ status: 'SKIPPED', skippedBecause: ['c'] });
    expect(visit('polish')).toMatchObject({ status: 'SKIPPED', skippedBecause: ['essay'] });
    expect(test.runtime.callsOf('essay')).toBe(0);
  });

  it('aborts by default: the failed node is named, running ones are cancelled, the rest is skipped', async () => {
    test.runtime.on('bad', () => [fails('模型坏了\u0000')]);
    let cancelled = false;
    test.runtime.on('slow', async (_request, signal) => {
      const events = await untilAborted(signal);
      cancelled = true;
      return events;
    });
    const workflow = await test.workflow({
      nodes: [input(), agent('bad'), agent('slow'), agent('never'), output({ x: '{{ never.text }}' })],
      edges: [
        edge('in', 'slow'),
        edge('in', 'bad'),
        edge('bad', 'never'),
        edge('slow', 'out'),
        edge('never', 'out'),
      ],
    });
    const { run, visit } = await test.runToEnd(workflow);
    expect(run).toMatchObject({ status: 'FAILED', statusReason: 'NODE_FAILED', error: '模型坏了\u0000' });
    expect(run.errorDetail).toMatchObject({ nodeId: 'bad', visitUuid: visit('bad')?.visitUuid });
    expect(visit('bad')?.envelope).toEqual({ status: 500, message: '模型坏了\u0000', data: null });
    expect(visit('slow')).toMatchObject({ status: 'FAILED', errorCode: 'CANCELLED' });
    expect(cancelled).toBe(true);
    expect(visit('never')?.status).toBe('SKIPPED');
    expect(test.events.filter(({ type }) => type === 'workflow_error')).toHaveLength(1);
  });

  it('goes on past a failed node under skip, which downstream sees as null', async () => {
    test.runtime.on('bad', () => [fails('no')]);
    const workflow = await test.workflow(
      chain(
        input(),
        agent('bad', { failStrategy: 'skip' }),
        output({ x: '[{{ bad.text }}]', y: '{{ bad.text }}' }),
      ),
    );
    const { run, visit } = await test.runToEnd(workflow);
    expect(run.status).toBe('SUCCESS');
    expect(run.outputs?.x).toBe('[]');
    expect(visit('bad')?.status).toBe('FAILED');
  });

  it('retries only retryable failures, keeping the visit, and shows each attempt', async () => {
    test.runtime.on('flaky', ({ workbench }) =>
      (workbench?.attempt ?? 0) < 3 ? [fails('later', { retryable: true })] : [says('at last')],
    );
    const retry = { maxAttempts: 3, backoffSeconds: 0.01 };
    const workflow = await test.workflow(
      chain(input(), agent('flaky', { retry }), output({ x: '{{ flaky.text }}' })),
    );
    const { run, visits, visit } = await test.runToEnd(workflow);
    expect(run.outputs).toEqual({ x: 'at last' });
    expect(visits).toHaveLength(3);
    expect(visit('flaky')?.attempt).toBe(3);
    const commands = test.runtime.requests.map(({ commandId }) => commandId);
    expect(new Set(commands).size).toBe(3);
    test.runtime.on('flaky', () => [fails('never', { retryable: false })]);
    await test.runToEnd(workflow);
    expect(test.runtime.requests).toHaveLength(4);
  });

  it('fails a node at its time-out although the node does not listen', async () => {
    test.runtime.on('deaf', () => new Promise(() => undefined));
    const workflow = await test.workflow(
      chain(input(), agent('deaf', { timeoutSeconds: 0.05 }), output({ x: '{{ deaf.text }}' })),
    );
    const { run } = await test.runToEnd(workflow);
    expect(run).toMatchObject({ status: 'FAILED', statusReason: 'NODE_FAILED' });
    expect(run.errorDetail?.code).toBe('NODE_TIMEOUT');
  });

  it('ends a run at its time-out, and at its budget', async () => {
    test.runtime.on('slow', (_request, signal) => untilAborted(signal));
    const graph = chain(input(), agent('slow'), output({ x: '1' }));
    const timed = await test.runToEnd(await test.workflow(graph, { settings: { runTimeoutSeconds: 0.05 } }));
    expect(timed.run.statusReason).toBe('RUN_TIMEOUT');
    test.runtime.on('slow', () => [
      { type: 'runtime.tool_call', callId: '1', tool: 't', args: {} },
      { type: 'runtime.tool_call', callId: '2', tool: 't', args: {} },
      says('x'),
    ]);
    const spent = await test.runToEnd(await test.workflow(graph, { settings: { budget: { toolCalls: 1 } } }));
    expect(spent.run.statusReason).toBe('BUDGET');
  });

  it('holds its concurrency limit and still runs everything', async () => {
    let now = 0;
    let most = 0;
    let open: () => void = () => undefined;
    const three = new Promise<void>((resolve) => (open = resolve));
    const ids = Array.from({ length: 20 }, (_, at) => `n${at}`);
    for (const id of ids) {
      test.runtime.on(id, async () => {
        most = Math.max(most, (now += 1));
        if (now === 3) open();
        await three;
        await new Promise((resolve) => setImmediate(resolve));
        now -= 1;
        return [says(id)];
      });
    }
    const workflow = await test.workflow(
      {
        nodes: [input(), ...ids.map((id) => agent(id)), output({ x: '1' })],
        edges: ids.flatMap((id) => [edge('in', id), edge(id, 'out')]),
      },
      { settings: { concurrency: 3 } },
    );
    const { run, visits } = await test.runToEnd(workflow);
    expect(run.status).toBe('SUCCESS');
    expect(visits).toHaveLength(22);
    expect(most).toBe(3);
  });

  it('starts a run once, however many ask at the same time', async () => {
    const workflow = await test.workflow(chain(input(), output({ x: '1' })));
    const runId = await test.create(workflow);
    const asked = await Promise.allSettled(
      Array.from({ length: 8 }, () => test.engine.startRun.execute(runId)),
    );
    expect(asked.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const one of asked) {
      if (one.status === 'rejected') expect(one.reason).toMatchObject({ code: 'RUN_ALREADY_STARTED' });
    }
    await test.end(runId);
  });

  it('cancels: running nodes stop, nothing begins any more, one terminal event', async () => {
    test.runtime.on('slow', (_request, signal) => untilAborted(signal));
    const workflow = await test.workflow(chain(input(), agent('slow'), agent('never'), output({ x: '1' })));
    const runId = await test.start(workflow);
    await test.untilBegun(runId, 'slow');
    const run = await test.engine.cancelRun.execute(runId);
    expect(run).toMatchObject({ status: 'FAILED', statusReason: 'CANCELLED' });
    const { visit } = await test.end(runId);
    expect([visit('slow')?.status, visit('never')?.status, visit('out')?.status]).toEqual([
      'FAILED',
      'SKIPPED',
      'SKIPPED',
    ]);
    expect(test.runtime.callsOf('never')).toBe(0);
    const stored = await test.store.readAfter(runId, 0, 100);
    expect(stored.filter(({ type }) => type.startsWith('workflow_'))).toHaveLength(1);
    expect(stored.map(({ seq }) => seq)).toEqual(stored.map((_, at) => at + 1));
    await expect(test.engine.cancelRun.execute(runId)).rejects.toMatchObject({ code: 'RUN_NOT_ACTIVE' });
  });

  it('cancels once, however many ask at the same time: one is told so, the others that it is not active', async () => {
    test.runtime.on('slow', (_request, signal) => untilAborted(signal));
    const workflow = await test.workflow(chain(input(), agent('slow'), output({ x: '1' })));
    for (const started of [true, false]) {
      const runId = await (started ? test.start(workflow) : test.create(workflow));
      if (started) await test.untilBegun(runId, 'slow');
      const asked = await Promise.allSettled(
        Array.from({ length: 10 }, () => test.engine.cancelRun.execute(runId)),
      );
      const refused = asked.flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : []));
      expect(refused).toHaveLength(9);
      for (const error of refused) expect(error).toMatchObject({ code: 'RUN_NOT_ACTIVE' });
      expect((await test.end(runId)).run.statusReason).toBe('CANCELLED');
      const stored = await test.store.readAfter(runId, 0, 100);
      expect(stored.filter(({ type }) => type.startsWith('workflow_'))).toHaveLength(1);
    }
  });

  it('takes no provider at its word about what it counted', async () => {
    const tokens = [2 ** 31, 9e15, -1, NaN, Infinity, 1e300];
    for (const totalTokens of tokens) {
      const answer = says('x');
      const usage = { promptTokens: null, completionTokens: null, totalTokens, durationMs: 1 };
      test.runtime.on('a', () =>
        answer.type === 'runtime.completed' ? [{ ...answer, response: { ...answer.response, usage } }] : [],
      );
      const { run, visit } = await test.runToEnd(
        await test.workflow(chain(input(), agent('a'), output({ x: '{{ a.text }}' }))),
      );
      expect(run.status).toBe('SUCCESS');
      expect(visit('a')?.tokens).toBe(totalTokens >= 2 ** 31 && totalTokens < Infinity ? 2 ** 31 - 1 : 0);
    }
  });

  it('lets a visit act again whose bridge died, without a retry of its own', async () => {
    test.runtime.on('a', ({ workbench }) =>
      workbench?.attempt === 1
        ? [fails('the bridge was lost', { type: 'connect_failed', code: 'bridge_lost', retryable: true })]
        : [says('again')],
    );
    const { run } = await test.runToEnd(
      await test.workflow(chain(input(), agent('a'), output({ x: '{{ a.text }}' }))),
    );
    expect(run.outputs).toEqual({ x: 'again' });
  });

  it('cancels a run that was never started, with one event', async () => {
    const workflow = await test.workflow(chain(input(), output({ x: '1' })));
    const runId = await test.create(workflow);
    await test.engine.cancelRun.execute(runId);
    const stored = await test.store.readAfter(runId, 0, 100);
    expect(stored.at(-1)?.type).toBe('workflow_error');
    expect(stored.filter(({ type }) => type === 'workflow_error')).toHaveLength(1);
    expect(stored.map(({ type }) => type)).not.toContain('run_started');
    await expect(test.engine.startRun.execute(runId)).rejects.toMatchObject({ code: 'RUN_ALREADY_STARTED' });
  });

  it('cancels a run that was started and has not made its first step: it began all the same', async () => {
    const workflow = await test.workflow(chain(input(), agent('a'), output({ x: '1' })));
    const runId = await test.create(workflow);
    expect(await test.leases.start(runId, false)).not.toBeNull();
    await test.engine.cancelRun.execute(runId);
    expect((await test.end(runId)).run).toMatchObject({ status: 'FAILED', statusReason: 'CANCELLED' });
    const events = await test.store.readAfter(runId, 0, 100);
    expect(events.map(({ type }) => type)).toEqual([
      'run_started',
      'node_status',
      'node_status',
      'node_status',
      'workflow_error',
    ]);
    expect(events.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5]);
  });

  it('shows what a rerun took over, though it is cancelled before its first step', async () => {
    const workflow = await test.workflow(chain(input(), agent('a'), output({ x: '{{ a.text }}' })));
    const original = await test.start(workflow);
    await test.end(original);
    const { run } = await test.engine.rerunRun.execute({
      runId: original,
      fromNodeId: 'out',
      apiKeyName: null,
    });
    expect(await test.leases.start(run.runId, false)).not.toBeNull();
    await test.engine.cancelRun.execute(run.runId);
    await test.end(run.runId);
    const events = await test.store.readAfter(run.runId, 0, 100);
    const shown = events.map(({ type, payload }) => {
      const { nodeId, status } = JSON.parse(payload) as { nodeId?: string; status?: string };
      return type === 'node_status' ? `${nodeId} ${status}` : type;
    });
    expect(shown).toEqual([
      'run_started',
      ...['in RUNNING', 'in SUCCESS', 'a RUNNING', 'a SUCCESS', 'out SKIPPED'],
      'workflow_error',
    ]);
  });
});
