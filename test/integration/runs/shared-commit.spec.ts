import type { RunEvent, VisitRef } from '../../../src/events/run-event.js';
import { failed, succeeded } from '../../../src/runs/envelope.js';
import { PreparedConnection } from '../../../src/database/prepared-connection.js';
import type { JournalEntry, VisitChange, VisitRow } from '../../../src/runs/journal/journal-entry.js';
import { LeaseLostError } from '../../../src/runs/journal/journal-errors.js';
import { JournalWriter } from '../../../src/runs/journal/journal-writer.js';
import type { RunLease } from '../../../src/runs/leases/run-leases.js';
import { TestEngine } from '../../support/engine/test-engine.js';
import { createTestDatabase, type TestDatabase } from '../../support/test-database.js';
import { chain, input, output } from '../engine/graphs.js';

const VISIT: VisitRef = {
  visitUuid: '7d444840-9dc0-41d1-b245-5ffdce74fad2',
  nodeId: 'a',
  nodeType: 'delay',
  label: 'a',
  iterSeq: 1,
};
const BEGUN: VisitRow = {
  sortOrder: 1,
  visitUuid: VISIT.visitUuid,
  nodeId: 'a',
  nodeType: 'delay',
  iterSeq: 1,
  status: 'RUNNING',
  predecessors: [],
  skippedBecause: null,
};
const started: RunEvent = {
  kind: 'visit-started',
  visit: VISIT,
  attempt: 1,
  sortOrder: 1,
  predecessors: [],
};
const changed = (change: Partial<VisitChange> & Pick<VisitChange, 'status'>): JournalEntry => ({
  events: [],
  changed: [{ sortOrder: 1, attempt: 1, tokens: 0, toolCalls: 0, ...change }],
});
const waits = changed({ status: 'WAITING', waiting: { kind: 'time', until: '2030-01-01T00:00:00.000Z' } });
const succeeds = changed({
  status: 'SUCCESS',
  attempt: 2,
  envelope: succeeded({ x: 1 }),
  chosenHandle: 'yes',
  tokens: 7,
  toolCalls: 3,
});

/** Entries that are recorded at the same time share one commit, which is one statement. */
describe('several entries of a run in one shared commit', () => {
  let database: TestDatabase;
  let test: TestEngine;
  let connection: PreparedConnection;
  let writer: JournalWriter;
  let lease: RunLease;
  beforeAll(async () => {
    database = await createTestDatabase();
    // A lease that outlives the test: nobody but the test executes its runs.
    test = await TestEngine.start(database, { leaseSeconds: 600 });
    connection = new PreparedConnection(database.url, 'journal');
    writer = new JournalWriter(connection, () => undefined);
  });
  afterAll(async () => {
    await connection.close();
    await test.stop();
    await database.close();
  });
  beforeEach(async () => {
    await database.dataSource.query('DELETE FROM visits');
    const workflow = await test.workflow(chain(input(), output({})));
    const { runId } = await test.engine.createRun.execute({
      workflow,
      variables: {},
      ttlHours: 1,
      apiKeyName: null,
    });
    const held = await test.leases.start(runId, true);
    if (!held?.lease) throw new Error('the run is not held');
    lease = held.lease;
  });

  const open = (epoch = lease.epoch, latestSeq = 0) => writer.open({ runId: lease.runId, epoch }, latestSeq);
  const visit = async () => (await test.visits.ofRun(lease.runId))[0];

  it('leaves a visit that changes twice as it was changed last', async () => {
    const journal = open();
    await journal.record({ events: [started], begun: [BEGUN] });
    await Promise.all([journal.record(waits), journal.record(succeeds)]);
    expect(await visit()).toMatchObject({
      status: 'SUCCESS',
      envelope: { data: { x: 1 } },
      chosenHandle: 'yes',
      waiting: null,
      attempt: 2,
      tokens: 7,
      toolCalls: 3,
      completedAt: expect.any(Date) as Date,
    });
  });

  it('changes a visit that begins in the same commit', async () => {
    const journal = open();
    await Promise.all([
      journal.record({ events: [started], begun: [BEGUN] }),
      journal.record(waits),
      journal.record(
        changed({ status: 'FAILED', envelope: failed('cancelled: x'), errorCode: 'CANCELLED', attempt: 3 }),
      ),
    ]);
    expect(await visit()).toMatchObject({
      status: 'FAILED',
      errorCode: 'CANCELLED',
      envelope: { message: 'cancelled: x' },
      waiting: null,
      attempt: 3,
      completedAt: expect.any(Date) as Date,
    });
  });

  it('leaves a visit that begins and comes to wait open', async () => {
    const journal = open();
    await Promise.all([journal.record({ events: [started], begun: [BEGUN] }), journal.record(waits)]);
    expect(await visit()).toMatchObject({
      status: 'WAITING',
      waiting: { kind: 'time' },
      completedAt: null,
      attempt: 1,
    });
  });

  it('ends a run that was about to rest', async () => {
    const journal = open();
    const end = {
      status: 'SUCCESS',
      statusReason: null,
      error: null,
      errorDetail: null,
      outputs: {},
    } as const;
    const rest = { wakeAt: new Date('9999-12-31T00:00:00Z'), wakesSeen: 0 };
    await Promise.all([journal.record({ events: [], rest }), journal.record({ events: [], end })]);
    expect(await test.runs.find(lease.runId)).toMatchObject({
      status: 'SUCCESS',
      completedAt: expect.any(Date) as Date,
    });
  });

  it.each(['before', 'behind'])(
    'takes from who took the run over only, %s the one it was taken from',
    async (where) => {
      const old = open();
      await old.record({ events: [started], begun: [BEGUN] });
      const held = await test.leases.seize(lease.runId);
      const journal = open(held?.lease.epoch, 1);
      const writes = [() => old.record(waits), () => journal.record(succeeds)];
      if (where === 'before') writes.reverse();
      const outcomes = await Promise.allSettled(writes.map((write) => write()));
      if (where === 'before') outcomes.reverse();
      expect(outcomes).toMatchObject([
        { status: 'rejected', reason: expect.any(LeaseLostError) as LeaseLostError },
        { status: 'fulfilled' },
      ]);
      expect(await visit()).toMatchObject({ status: 'SUCCESS', waiting: null });
    },
  );
});
