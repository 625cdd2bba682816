import { jest } from '@jest/globals';
import pg from 'pg';
import { HeldJournal } from '../../support/engine/held-journal.js';
import type { TestEngine } from '../../support/engine/test-engine.js';
import { TestEngines } from '../../support/engine/test-engines.js';
import { agent, chain, input, output } from './graphs.js';

describe('a start that is stored with the first entry of the run', () => {
  let engines: TestEngines;
  const alreadyStarted = { code: 'RUN_ALREADY_STARTED' };
  const workflowOf = (engine: TestEngine) =>
    engine.workflow(chain(input(), agent('a'), output({ x: '{{ a.text }}' })));
  const types = async (engine: TestEngine, runId: string): Promise<string[]> =>
    (await engine.store.readAfter(runId, 0, 1_000)).map(({ type }) => type);

  beforeAll(async () => {
    engines = await TestEngines.open();
  });
  afterEach(() => engines.stop());
  afterAll(() => engines.close());

  it('is one commit with it, and leaves the run as a start by itself would', async () => {
    const engine = await engines.start();
    const workflow = await workflowOf(engine);
    const alone = jest.spyOn(engine.leases, 'start');
    const runId = await engine.create(workflow);
    const before = await engine.runs.find(runId);
    expect(before).toMatchObject({ status: 'CREATED', startedAt: null, leaseEpoch: 0 });
    const commits = jest.spyOn(engine.connections.journal, 'query');
    const { startedAt } = await engine.engine.startRun.execute(runId);
    expect((await types(engine, runId)).slice(0, 2)).toEqual(['run_started', 'node_status']);
    const { run } = await engine.end(runId);
    expect(run).toMatchObject({ status: 'SUCCESS', startedAt, leaseEpoch: 1, leaseOwner: null });
    expect(alone).not.toHaveBeenCalled();
    // The start with the input's end, then the ends of the agent and of the output.
    expect(commits).toHaveBeenCalledTimes(3);
  });

  it('is refused where the run is cancelled first', async () => {
    const engine = await engines.start();
    const runId = await engine.create(await workflowOf(engine));
    const journal = new HeldJournal(engine);
    const started = engine.engine.startRun.execute(runId);
    await journal.reached;
    const cancelled = engine.engine.cancelRun.execute(runId);
    await engine.until(
      async () => (await engine.runs.find(runId))?.cancelRequestedAt !== null,
      'the cancel to be stored',
    );
    journal.go();
    await expect(started).rejects.toMatchObject(alreadyStarted);
    expect(await cancelled).toMatchObject({ status: 'FAILED', statusReason: 'CANCELLED' });
    expect((await types(engine, runId)).filter((type) => type.startsWith('workflow_'))).toEqual([
      'workflow_error',
    ]);
    expect(engine.runtime.callsOf('a')).toBe(0);
  });

  it.each(['another process', 'the same process'])('is refused where %s starts it first', async (where) => {
    const engine = await engines.start();
    const other = where === 'the same process' ? engine : await engines.start();
    const runId = await engine.create(await workflowOf(engine));
    const journal = new HeldJournal(engine);
    const started = engine.engine.startRun.execute(runId);
    await journal.reached;
    // With something to be asked before, a start has a transaction of its own.
    await other.engine.startRun.execute(runId, () => Promise.resolve());
    journal.go();
    await expect(started).rejects.toMatchObject(alreadyStarted);
    const { run, visits } = await other.end(runId);
    // The loser gives nothing back that is the winner's, although both count the same epoch.
    expect(run).toMatchObject({ status: 'SUCCESS', leaseEpoch: 1 });
    expect(visits.map(({ attempt }) => attempt)).toEqual([1, 1, 1]);
    expect(engine.runtime.callsOf('a') + (other === engine ? 0 : other.runtime.callsOf('a'))).toBe(1);
  });

  it('is tried by itself where the first entry cannot be stored', async () => {
    const engine = await engines.start();
    const runId = await engine.create(await workflowOf(engine));
    const { journal } = engine.connections;
    const query = journal.query.bind(journal);
    let refused = 0;
    journal.query = <Row extends object>(config: pg.QueryConfig): Promise<Row[]> => {
      refused += 1;
      if (refused > 1) return query<Row>(config);
      return Promise.reject(Object.assign(new pg.DatabaseError('no', 2, 'error'), { code: '22P02' }));
    };
    await engine.engine.startRun.execute(runId);
    const { run, visits } = await engine.end(runId);
    expect(run).toMatchObject({ status: 'SUCCESS', leaseEpoch: 1 });
    expect(visits.map(({ attempt }) => attempt)).toEqual([1, 1, 1]);
  });

  it('is given back when the server stops while it is being stored', async () => {
    const engine = await engines.start({ leaseSeconds: 60 });
    const runId = await engine.create(await workflowOf(engine));
    const journal = new HeldJournal(engine);
    const started = engine.engine.startRun.execute(runId);
    await journal.reached;
    const stopped = engine.engine.dispatcher.stop();
    journal.go();
    await stopped;
    await expect(started).resolves.toMatchObject({ startedAt: expect.any(Date) as Date });
    const next = await engines.start();
    expect((await next.end(runId)).run.status).toBe('SUCCESS');
  });

  it('is none where the server stops before: somebody else executes the run', async () => {
    const engine = await engines.start();
    const runId = await engine.create(await workflowOf(engine));
    await engine.engine.dispatcher.stop();
    await engine.engine.startRun.execute(runId);
    const next = await engines.start();
    expect((await next.end(runId)).run.status).toBe('SUCCESS');
  });

  it('fails the run it cannot begin, as a start by itself does', async () => {
    const first = await engines.start();
    const workflow = await workflowOf(first);
    const runId = await first.create(workflow);
    await first.engine.dispatcher.stop();
    // It has read nothing of the workflow yet.
    const engine = await engines.start();
    await engines.database.dataSource.query('DELETE FROM workflow_versions WHERE workflow_id = $1', [
      workflow.workflowId,
    ]);
    await engine.engine.startRun.execute(runId);
    expect((await engine.end(runId)).run).toMatchObject({
      status: 'FAILED',
      statusReason: 'INTERNAL_ERROR',
    });
  });
});
