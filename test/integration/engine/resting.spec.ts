import { jest } from '@jest/globals';
import type { GraphData } from '../../../src/workflows/index.js';
import { says } from '../../support/engine/scripted-runtime.js';
import { TestEngine } from '../../support/engine/test-engine.js';
import { createTestDatabase, type TestDatabase } from '../../support/test-database.js';
import { agent, chain, edge, input, node, output } from './graphs.js';

const ask = (id = 'ask') =>
  node(id, 'humanInput', { fields: [{ name: 'ok', type: 'boolean', required: true }] });
const THIRTY_DAYS = 2_592_000;

describe('runs that lie down', () => {
  let database: TestDatabase;
  let test: TestEngine;
  beforeAll(async () => {
    database = await createTestDatabase({ poolSize: 8 });
  });
  afterAll(() => database.close());
  beforeEach(async () => {
    test = await TestEngine.start(database);
  });
  afterEach(async () => {
    jest.restoreAllMocks();
    await test.stop();
  });

  const untilNode = (runId: string, nodeId: string, wanted: string): Promise<void> =>
    test.until(
      async () =>
        (await test.visits.ofRun(runId)).some((visit) => visit.nodeId === nodeId && visit.status === wanted),
      `${nodeId} to be ${wanted}`,
    );

  it.each([
    ['a person', ask('wait')],
    ['a clock', node('wait', 'delay', { seconds: THIRTY_DAYS })],
  ])('ends a run whose time is over while it waits for %s', async (_what, waits) => {
    const settings = { runTimeoutSeconds: 0.5 };
    const workflow = await test.workflow(chain(input(), waits, output({})), { settings });
    const { run, visit } = await test.runToEnd(workflow);
    expect(run).toMatchObject({ status: 'FAILED', statusReason: 'RUN_TIMEOUT' });
    expect([visit('wait')?.status, visit('out')?.status]).toEqual(['FAILED', 'SKIPPED']);
    const stored = await test.store.readAfter(run.runId, 0, 100);
    expect(stored.filter(({ type }) => /^workflow_/.test(type))).toHaveLength(1);
    expect(stored.map(({ seq }) => seq)).toEqual(stored.map((_, at) => at + 1));
  });

  it('gives a run all of the thirty days that it may have', async () => {
    const settings = { runTimeoutSeconds: THIRTY_DAYS };
    let finish: () => void = () => undefined;
    const running = new Promise<void>((resolve) => (finish = resolve));
    test.runtime.on('busy', async () => {
      // A timer that overflowed would have rung by now.
      setTimeout(finish, 50);
      await running;
      return [says('b')];
    });
    const workflow = await test.workflow(chain(input(), agent('busy'), output({})), { settings });
    expect((await test.runToEnd(workflow)).run).toMatchObject({ status: 'SUCCESS', statusReason: null });
  });

  it('hears an answer that comes while another node begins to wait', async () => {
    let finish: () => void = () => undefined;
    const busy = new Promise<void>((resolve) => (finish = resolve));
    test.runtime.on('busy', async () => {
      await busy;
      return [says('b')];
    });
    const workflow = await test.workflow({
      nodes: [input(), ask('first'), agent('busy'), ask('second'), output({ ok: '{{ first.ok }}' })],
      edges: [
        ...[edge('in', 'first'), edge('in', 'busy'), edge('busy', 'second')],
        ...[edge('first', 'out'), edge('second', 'out')],
      ],
    });
    const runId = await test.start(workflow);
    await untilNode(runId, 'first', 'WAITING');
    // The woken run reads the answers; until it has them, the other node comes to wait and the run lies down.
    let goOn: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (goOn = resolve));
    const { dataSource } = database;
    const query = dataSource.query.bind(dataSource);
    let isReading = false;
    jest.spyOn(dataSource, 'query').mockImplementation(async (...asked) => {
      if (/FROM visits .* waiting IS NOT NULL/.test(asked[0])) {
        isReading = true;
        await held;
      }
      return query(...asked);
    });
    const answered = test.engine.answerHumanInput.execute(runId, 'first', { ok: true });
    await test.until(() => isReading, 'the answers to be read');
    finish();
    await untilNode(runId, 'second', 'WAITING');
    await test.untilResting(runId);
    goOn();
    await answered;
    await untilNode(runId, 'first', 'SUCCESS');
    await test.engine.answerHumanInput.execute(runId, 'second', { ok: true });
    expect((await test.end(runId)).run.outputs).toEqual({ ok: true });
  });

  it('is not kept from being woken by a renewal that comes late', async () => {
    const workflow = await test.workflow(chain(input(), ask(), output({})));
    const runId = await test.start(workflow);
    await test.untilResting(runId);
    const before = await test.runs.find(runId);
    const late = { runId, epoch: before?.leaseEpoch ?? 0 };
    expect(await test.leases.renew([late])).toEqual(new Map());
    expect((await test.runs.find(runId))?.leaseUntil).toEqual(before?.leaseUntil);
  });

  describe('with an iteration', () => {
    const each = (inner: GraphData, data: Record<string, unknown> = {}) =>
      node('each', 'iteration', { items: [1, 2, 3], concurrency: 2, graph: inner, ...data });
    const approvals: GraphData = {
      nodes: [ask(), output({ n: '{{ item }}', ok: '{{ ask.ok }}' }, 'o')],
      edges: [edge('ask', 'o')],
    };

    it('holds nothing while the items ask persons, and goes on as the same attempt', async () => {
      const retry = { maxAttempts: 2 };
      const workflow = await test.workflow(
        chain(input(), each(approvals, { retry }), output({ all: '{{ each.items }}' })),
      );
      const runId = await test.start(workflow);
      for (const ok of [true, false, true]) {
        await test.untilResting(runId);
        await test.engine.answerHumanInput.execute(runId, 'each.ask', { ok });
      }
      const { run, visit } = await test.end(runId);
      const all = [true, false, true].map((ok, at) => ({ n: at + 1, ok }));
      expect(run.outputs).toEqual({ all });
      expect(visit('each')?.attempt).toBe(1);
      const shown = test.events.filter(
        ({ event }) => event.kind === 'visit-started' && event.visit.nodeId === 'each',
      );
      expect(shown).toHaveLength(1);
    });

    it('can be cancelled while it rests', async () => {
      const workflow = await test.workflow(chain(input(), each(approvals), output({})));
      const runId = await test.start(workflow);
      await test.untilResting(runId);
      await test.engine.cancelRun.execute(runId);
      const { visits } = await test.end(runId);
      const open = visits.filter(({ status }) => status === 'RUNNING' || status === 'WAITING');
      expect(open).toEqual([]);
    });

    it('lets its children run where only one run may be executed at a time', async () => {
      await test.stop();
      test = await TestEngine.start(database, { maxActiveRuns: 1 });
      const child = await test.workflow(chain(input(), output({ v: '{{ in.n }}' })));
      const call = node('call', 'subWorkflow', { workflowName: child.name, variables: { n: '{{ item }}' } });
      const inner = { nodes: [call, output({ v: '{{ call.v }}' }, 'o')], edges: [edge('call', 'o')] };
      const workflow = await test.workflow(chain(input(), each(inner), output({ all: '{{ each.items }}' })));
      const { run } = await test.runToEnd(workflow);
      expect(run.outputs).toEqual({ all: [{ v: 1 }, { v: 2 }, { v: 3 }] });
    });
  });
});
