/** What faults and dying processes leave behind comes to an end all the same. */
import { AnswerHumanInput } from '../../../src/engine/index.js';
import { CompiledWorkflows } from '../../../src/engine/execution/compiled-workflows.js';
import { MAX_CUT_OFFS } from '../../../src/engine/execution/retry-visit.js';
import type { WakeRun } from '../../../src/engine/execution/wake-run.js';
import { says, untilAborted } from '../../support/engine/scripted-runtime.js';
import type { TestEngine } from '../../support/engine/test-engine.js';
import { TestEngines } from '../../support/engine/test-engines.js';
import { agent, chain, input, node, output } from './graphs.js';

const question = node('ask', 'humanInput', { message: '?', fields: [{ name: 'ok', type: 'boolean' }] });

describe('what is left behind', () => {
  let engines: TestEngines;
  const start = (options?: { owner?: string; leaseSeconds?: number }): Promise<TestEngine> =>
    engines.start(options);
  const sql = (text: string, ...values: unknown[]) =>
    engines.database.dataSource.query<unknown[]>(text, values);
  const types = async (engine: TestEngine, runId: string): Promise<string[]> =>
    (await engine.store.readAfter(runId, 0, 1_000)).map(({ type }) => type);

  beforeAll(async () => {
    engines = await TestEngines.open();
  });
  afterEach(() => engines.stop());
  afterAll(() => engines.close());

  describe('by faults of ours', () => {
    it('ends a run as INTERNAL_ERROR after the third in a row, saying nothing internal', async () => {
      const test = await start();
      let faults = 0;
      test.workspaces.listFiles = () => {
        faults += 1;
        return Promise.reject(new TypeError('x is not a function at /srv/secret.js'));
      };
      const workflow = await test.workflow(chain(input(), agent('a'), output({ x: '{{ a.text }}' })));
      const { run, visits } = await test.runToEnd(workflow);
      expect(run).toMatchObject({
        status: 'FAILED',
        statusReason: 'INTERNAL_ERROR',
        error: expect.stringMatching(/^internal error; correlation id [0-9a-f-]{36}$/) as string,
        errorDetail: { code: 'INTERNAL_ERROR', nodeId: null },
      });
      expect(faults).toBeGreaterThanOrEqual(3);
      expect(faults).toBeLessThanOrEqual(4);
      expect(test.runtime.callsOf('a')).toBe(1);
      expect(visits.find(({ nodeId }) => nodeId === 'a')).toMatchObject({ status: 'SUCCESS', attempt: 1 });
      const seen = await types(test, run.runId);
      expect(seen.filter((type) => type.startsWith('workflow_'))).toEqual(['workflow_error']);
      expect(seen.at(-1)).toBe('workflow_error');
    });

    it('does not give up a run that goes on after two', async () => {
      const test = await start();
      const listFiles = test.workspaces.listFiles.bind(test.workspaces);
      let faults = 0;
      test.workspaces.listFiles = (runId) => {
        faults += 1;
        return faults < 3 ? Promise.reject(new TypeError('no')) : listFiles(runId);
      };
      const workflow = await test.workflow(chain(input(), agent('a'), output({ x: '{{ a.text }}' })));
      expect((await test.runToEnd(workflow)).run.status).toBe('SUCCESS');
      expect(faults).toBe(3);
    });

    it('does not count a database that is out of reach', async () => {
      const test = await start();
      const query = test.connections.journal.query.bind(test.connections.journal);
      let refused = 0;
      const workflow = await test.workflow(chain(input(), agent('a'), output({ x: '{{ a.text }}' })));
      test.connections.journal.query = (config) => {
        refused += 1;
        if (refused < 8) return Promise.reject(new Error('Connection terminated unexpectedly'));
        return query(config);
      };
      expect((await test.runToEnd(workflow)).run.status).toBe('SUCCESS');
      expect(refused).toBeGreaterThanOrEqual(8);
    });

    it('ends a run whose definition is gone, with what was visited', async () => {
      const first = await start();
      first.runtime.on('slow', (_request, signal) => untilAborted(signal));
      const workflow = await first.workflow(chain(input(), agent('slow'), output({ x: '1' })));
      const runId = await first.start(workflow);
      await first.untilBegun(runId, 'slow');
      await first.engine.dispatcher.stop();
      await sql('DELETE FROM workflow_versions WHERE workflow_id = $1', workflow.workflowId);
      const second = await start();
      const { run, visit } = await second.end(runId);
      expect(run.statusReason).toBe('INTERNAL_ERROR');
      expect(visit('in')?.status).toBe('SUCCESS');
      expect(visit('slow')).toMatchObject({ status: 'FAILED', errorCode: 'CANCELLED' });
      expect((await types(second, runId)).at(-1)).toBe('workflow_error');
    });

    it('lets an entry that cannot be written fail its own run and no other', async () => {
      const test = await start();
      const good = await test.workflow(chain(input(), agent('a'), agent('b'), output({ x: '{{ b.text }}' })));
      const bad = await test.workflow(chain(input(), agent('bad'), output({ x: '1' })));
      // JSON has no such number: it fails where the entry is written down, before the database sees it.
      test.runtime.on('bad', () => [says('x', { n: 1n as unknown as number })]);
      const [badRun, ...runIds] = await Promise.all(
        [bad, ...Array.from({ length: 8 }, () => good)].map((one) => test.start(one)),
      );
      for (const runId of runIds) {
        const { run, visits } = await test.end(runId);
        expect(run.status).toBe('SUCCESS');
        expect(visits.every(({ attempt }) => attempt === 1)).toBe(true);
      }
      const { run } = await test.end(badRun ?? '');
      expect(run.statusReason).toBe('INTERNAL_ERROR');
      // The first time its input had ended before: that was progress.
      expect(test.runtime.callsOf('bad')).toBe(4);
    });
  });

  describe('by a node that ends its process', () => {
    /** The run's node was cut off this often. */
    async function cutOff(times: number, data: Record<string, unknown> = {}) {
      const first = await start();
      first.runtime.on('deadly', (_request, signal) => untilAborted(signal));
      const workflow = await first.workflow(
        chain(input(), agent('deadly', data), output({ x: '[{{ deadly.text }}]' })),
      );
      const runId = await first.start(workflow);
      await first.untilBegun(runId, 'deadly');
      await first.engine.dispatcher.stop();
      await sql(`UPDATE visits SET attempt = $1 WHERE run_id = $2 AND node_id = 'deadly'`, times, runId);
      const second = await start();
      return { second, ...(await second.end(runId)) };
    }

    it('executes it again as often as it may', async () => {
      const { run, second, visit } = await cutOff(MAX_CUT_OFFS);
      expect(run.status).toBe('SUCCESS');
      expect([second.runtime.callsOf('deadly'), visit('deadly')?.attempt]).toEqual([1, MAX_CUT_OFFS + 1]);
    });

    it('and then fails it as WORKER_LOST without executing it', async () => {
      const { run, second, visit } = await cutOff(MAX_CUT_OFFS + 1);
      expect(run).toMatchObject({ status: 'FAILED', statusReason: 'WORKER_LOST' });
      expect(run.errorDetail).toMatchObject({ code: 'WORKER_LOST', nodeId: 'deadly' });
      expect(visit('deadly')).toMatchObject({ status: 'FAILED', errorCode: 'WORKER_LOST' });
      expect(second.runtime.callsOf('deadly')).toBe(0);
    });

    it('counts attempts of `retry` apart, and goes on past it under skip', async () => {
      const retry = { maxAttempts: 3, backoffSeconds: 0.01 };
      const more = await cutOff(MAX_CUT_OFFS + 2, { retry });
      expect(more.run.status).toBe('SUCCESS');
      const skipped = await cutOff(MAX_CUT_OFFS + 3, { retry, failStrategy: 'skip' });
      expect(skipped.run).toMatchObject({ status: 'SUCCESS', outputs: { x: '[]' } });
    });
  });

  it('an answer whose wake-up call nobody could deliver any more is found', async () => {
    const first = await start();
    const workflow = await first.workflow(chain(input(), question, output({ ok: '{{ ask.ok }}' })));
    const runId = await first.start(workflow);
    await first.untilResting(runId);
    const dies: Pick<WakeRun, 'afterWake'> = { afterWake: () => Promise.reject(new Error('killed')) };
    const compiled = new CompiledWorkflows(first.workflows, 200);
    const { runs, visits, leases } = first;
    const answer = new AnswerHumanInput(
      engines.database.dataSource,
      runs,
      visits,
      leases,
      compiled,
      dies as WakeRun,
    );
    await first.engine.dispatcher.stop();
    await expect(answer.execute(runId, 'ask', { ok: true })).rejects.toThrow('killed');
    const second = await start();
    expect((await second.end(runId)).run).toMatchObject({ status: 'SUCCESS', outputs: { ok: true } });
  });

  it('a refused answer wakes nobody', async () => {
    const test = await start();
    const workflow = await test.workflow(chain(input(), question, output({ ok: '{{ ask.ok }}' })));
    const runId = await test.start(workflow);
    await test.untilResting(runId);
    await sql(`UPDATE visits SET waiting = '{"answer": {}}' WHERE run_id = $1 AND status = 'WAITING'`, runId);
    const answered = test.engine.answerHumanInput.execute(runId, 'ask', { ok: true });
    await expect(answered).rejects.toMatchObject({ code: 'RUN_NOT_ACTIVE' });
    expect((await test.runs.find(runId))?.wakes).toBe(0);
    await test.engine.cancelRun.execute(runId);
  });

  it('a cancel that its process did not live to complete is completed, and never becomes a start', async () => {
    const first = await start({ leaseSeconds: 0.3 });
    first.runtime.on('a', (_request, signal) => untilAborted(signal));
    const workflow = await first.workflow(chain(input(), agent('a'), output({ x: '1' })));
    const created = await first.create(workflow);
    const started = await first.start(workflow);
    await first.untilBegun(started, 'a');
    first.engine.registry.renew = () => Promise.resolve();
    for (const runId of [created, started]) expect(await first.leases.seize(runId)).not.toBeNull();
    const second = await start();
    for (const runId of [created, started]) {
      const { run, visit } = await second.end(runId);
      expect(run).toMatchObject({ status: 'FAILED', statusReason: 'CANCELLED' });
      expect(visit('out')?.status).toBe('SKIPPED');
    }
    expect(second.runtime.requests).toHaveLength(0);
  });

  it('a run that outlived its parent is cancelled, started or not', async () => {
    const test = await start();
    const child = await test.workflow(chain(input(), question, output({ x: '1' })));
    const call = node('call', 'subWorkflow', { workflowName: child.name });
    const parent = await test.workflow(chain(input(), call, output({ x: '1' })));
    const childOf = async (runId: string): Promise<string> => {
      const rows = (await sql('SELECT run_id FROM runs WHERE parent_run_id = $1', runId)) as {
        run_id: string;
      }[];
      expect(rows).toHaveLength(1);
      return rows[0]?.run_id ?? '';
    };
    const runIds = [await test.start(parent), await test.start(parent), await test.start(parent)] as const;
    for (const runId of runIds) await test.untilResting(runId);
    const [orphan, unstarted, kept] = await Promise.all(runIds.map(childOf));
    const ended = `UPDATE runs SET status = 'FAILED', completed_at = now() - interval '1 minute' WHERE run_id = $1`;
    await sql(ended, runIds[0]);
    await sql(ended, runIds[1]);
    await sql(`UPDATE runs SET status = 'CREATED' WHERE run_id = $1`, unstarted);
    await test.engine.orphans.look({ alsoNeverStarted: true });
    expect((await test.end(orphan ?? '')).run.statusReason).toBe('CANCELLED');
    expect((await test.end(unstarted ?? '')).run.statusReason).toBe('CANCELLED');
    expect((await test.runs.find(kept ?? ''))?.status).toBe('RUNNING');
    await test.engine.cancelRun.execute(runIds[2]);
  });

  it('a child that fails after its parent was cut off fails the parent, and no further child is started', async () => {
    const first = await start();
    const child = await first.workflow(chain(input(), question, output({ x: '1' })));
    const call = node('call', 'subWorkflow', { workflowName: child.name });
    const workflow = await first.workflow(chain(input(), call, output({ x: '1' })));
    const runId = await first.start(workflow);
    await first.untilResting(runId);
    await first.engine.dispatcher.stop();
    // As if the process had died between the start of the child and the record that it is waited for.
    await sql(
      `UPDATE visits SET status = 'RUNNING', waiting = NULL WHERE run_id = $1 AND node_id = 'call'`,
      runId,
    );
    await sql('UPDATE runs SET lease_until = now() WHERE run_id = $1', runId);
    const second = await start();
    await second.until(
      async () =>
        (await second.visits.ofRun(runId)).some(
          ({ attempt, status }) => attempt === 2 && status === 'WAITING',
        ),
      'the second attempt to wait',
    );
    const children = (await sql('SELECT run_id FROM runs WHERE parent_run_id = $1', runId)) as {
      run_id: string;
    }[];
    await second.engine.cancelRun.execute(children[0]?.run_id ?? '');
    const { run } = await second.end(runId);
    expect(run.errorDetail).toMatchObject({ code: 'CHILD_FAILED' });
    expect(await sql('SELECT run_id FROM runs WHERE parent_run_id = $1', runId)).toHaveLength(1);
  });

  it('a server that was held up while it started a child starts none once the parent is taken over', async () => {
    const first = await start({ leaseSeconds: 0.3 });
    first.engine.registry.renew = () => Promise.resolve();
    const child = await first.workflow(chain(input(), agent('c'), output({ x: '{{ c.text }}' })));
    const call = node('call', 'subWorkflow', { workflowName: child.name });
    const workflow = await first.workflow(chain(input(), call, output({ x: '{{ call.x }}' })));
    // It is stopped just before it stores the child.
    let goOn: () => void = () => undefined;
    let stopped: () => void = () => undefined;
    const isStopped = new Promise<void>((resolve) => (stopped = resolve));
    const create = first.engine.createRun.execute.bind(first.engine.createRun);
    const runId = await first.create(workflow);
    first.engine.createRun.execute = async (command) => {
      stopped();
      await new Promise<void>((resolve) => (goOn = resolve));
      return create(command);
    };
    await first.engine.startRun.execute(runId);
    await isStopped;
    const second = await start();
    expect((await second.end(runId)).run.outputs).toEqual({ x: 'c done' });
    goOn();
    await first.until(() => first.engine.registry.size === 0, 'the first server to leave the run');
    expect(await sql('SELECT run_id FROM runs WHERE parent_run_id = $1', runId)).toHaveLength(1);
  });

  it('a server that was held up for longer than its lease begins no node before it has the run again', async () => {
    const test = await start({ leaseSeconds: 0.3 });
    // What a process does that was stopped and goes on: its step is acknowledged before it learns of its lease.
    test.engine.registry.renew = () => Promise.resolve();
    test.runtime.on('a', async () => {
      await new Promise((resolve) => setTimeout(resolve, 600));
      return [says('a')];
    });
    const workflow = await test.workflow(
      chain(input(), agent('a'), agent('b'), output({ x: '{{ b.text }}' })),
    );
    const { run, visit } = await test.runToEnd(workflow);
    expect(run.outputs).toEqual({ x: 'b done' });
    expect([test.runtime.callsOf('a'), test.runtime.callsOf('b'), visit('b')?.attempt]).toEqual([1, 1, 2]);
    expect(run.leaseEpoch).toBe(2);
  });

  describe('by a server that stops', () => {
    it('is a run that it was just about to take', async () => {
      const first = await start();
      const workflow = await first.workflow(chain(input(), agent('a'), output({ x: '1' })));
      const runId = await first.create(workflow);
      const ofRun = first.visits.ofRun.bind(first.visits);
      // Whoever stops now stops in the middle of the loading.
      let loading: () => void = () => undefined;
      const loads = new Promise<void>((resolve) => (loading = resolve));
      first.visits.ofRun = async (id) => {
        loading();
        await new Promise((resolve) => setTimeout(resolve, 200));
        return ofRun(id);
      };
      first.runtime.on('a', (_request, signal) => untilAborted(signal));
      await first.leases.start(runId, true);
      await first.leases.forfeitAll();
      await loads;
      await first.engine.dispatcher.stop();
      expect(first.runtime.requests).toHaveLength(0);
      expect(await first.runs.find(runId)).toMatchObject({ status: 'RUNNING', leaseOwner: null });
      expect(await types(first, runId)).toEqual([]);
      const second = await start();
      expect((await second.end(runId)).run.status).toBe('SUCCESS');
    });

    it('is taken by others only when its nodes have stopped', async () => {
      const first = await start();
      const order: string[] = [];
      first.runtime.on('slow', async (_request, signal) => {
        const events = await untilAborted(signal);
        await new Promise((resolve) => setTimeout(resolve, 300));
        order.push('stopped');
        return events;
      });
      const workflow = await first.workflow(chain(input(), agent('slow'), output({ x: '1' })));
      const runId = await first.start(workflow);
      await first.untilBegun(runId, 'slow');
      const second = await start();
      second.runtime.on('slow', () => {
        order.push('begun again');
        return [says('x')];
      });
      await first.engine.dispatcher.stop();
      await second.end(runId);
      expect(order).toEqual(['stopped', 'begun again']);
    });
  });
});
