import { randomUUID } from 'node:crypto';
import type { DataSource } from 'typeorm';
import { RunEventStore } from '../../../src/events/run-event-store.js';
import { ContextQueryError } from '../../../src/context-query/queries/context-query-error.js';
import { META_KINDS, queryMeta } from '../../../src/context-query/queries/query-meta.js';
import { queryOutput } from '../../../src/context-query/queries/query-output.js';
import { queryPath } from '../../../src/context-query/queries/query-path.js';
import type { VisitSource } from '../../../src/context-query/queries/visit-source.js';
import { readRunHistory } from '../../../src/context-query/records/read-run-history.js';
import { VisitRecords } from '../../../src/context-query/records/visit-records.js';
import { IndexedRun, type IndexedRunLimits } from '../../../src/context-query/visit-index/indexed-run.js';
import { randomRun, seededRandom } from '../../factories/random-run.js';
import type { RecordedRun } from '../../factories/recorded-run.js';
import { storeRuns } from '../../support/context-query/store-runs.js';
import { createTestDatabase, type TestDatabase } from '../../support/test-database.js';

const limits: IndexedRunLimits = { maxVisits: 200, maxTextBytes: 1024 ** 2, maxRunBytes: 64 * 1024 ** 2 };

let database: TestDatabase;
let dataSource: DataSource;

beforeAll(async () => {
  database = await createTestDatabase();
  dataSource = database.dataSource;
});
afterAll(() => database.close());

/** Memory and nothing behind it. */
function memoryOf(indexed: IndexedRun): VisitSource {
  const held = <T>(value: T | undefined): T => {
    if (value === undefined) throw new Error('memory does not answer');
    return value;
  };
  return {
    lineage: async (_, visitUuid) => held(indexed.lineage(visitUuid) ?? undefined),
    envelope: async (_, { visitUuid }) => held(indexed.visit(visitUuid)?.envelope),
    logs: async (_, { visitUuid }) => ({ entries: held(indexed.visit(visitUuid)?.logs), truncated: false }),
  };
}

function indexedFromEvents(run: RecordedRun): IndexedRun {
  const indexed = new IndexedRun(run.runId, limits);
  for (const event of run.events) indexed.apply(event);
  return indexed;
}

/** What the newest visits of the run could ask about every node and visit, answered as the bytes to be sent. */
async function answersOf(source: VisitSource, run: RecordedRun): Promise<string[]> {
  const answers: string[] = [];
  const note = async (question: string, answer: () => Promise<object>): Promise<void> => {
    const text = await answer().then(
      (data) => JSON.stringify(data),
      (error: unknown) => {
        if (!(error instanceof ContextQueryError)) throw error;
        return `${error.code} ${error.message}`;
      },
    );
    answers.push(`${question}: ${text}`);
  };
  const nodeIds = [...new Set(run.visitRows.map(({ nodeId }) => nodeId)), 'absent'];
  const visits = run.visitRows.filter(({ status }) => status !== 'SKIPPED');
  for (const { visitUuid, nodeId } of visits.slice(-2)) {
    const holder = { runId: run.runId, visitUuid, nodeId };
    await note(`path ${visitUuid}`, () => queryPath(source, holder, { visitUuid }));
    for (const asked of nodeIds) {
      for (const iterSeq of [null, 1]) {
        for (const field of [null, 'a.b', '键']) {
          await note(`output ${asked} ${iterSeq} ${field}`, () =>
            queryOutput(source, holder, { nodeId: asked, iterSeq, field }),
          );
        }
        await note(`meta ${asked} ${iterSeq}`, () =>
          queryMeta(source, holder, { kind: 'ALL', wanted: { nodeId: asked, iterSeq } }),
        );
      }
    }
    for (const asked of visits) {
      const wanted = { visitUuid: asked.visitUuid };
      for (const kind of META_KINDS) {
        await note(`meta ${kind} ${asked.visitUuid}`, () => queryMeta(source, holder, { kind, wanted }));
      }
    }
  }
  return answers;
}

/** Asks the database once for each visit's rows, so that thousands of questions stay quick. */
function rememberingRecords(): VisitSource {
  const records = new VisitRecords(dataSource, new RunEventStore(dataSource));
  const known = new Map<string, Promise<unknown>>();
  const once = <T>(key: string, read: () => Promise<T>): Promise<T> => {
    const before = known.get(key) ?? read();
    known.set(key, before);
    return before as Promise<T>;
  };
  return {
    lineage: (runId, visitUuid) => once(`lineage ${visitUuid}`, () => records.lineage(runId, visitUuid)),
    envelope: (runId, visit) => once(`envelope ${visit.visitUuid}`, () => records.envelope(runId, visit)),
    logs: (runId, visit) => once(`logs ${visit.visitUuid}`, () => records.logs(runId, visit)),
  };
}

test('on 200 random runs memory, database and a rebuilt memory answer the same bytes', async () => {
  const seen = { answers: 0, truncated: 0, backtracks: 0 };
  for (let seed = 1; seed <= 200; seed += 1) {
    const run = randomRun(seededRandom(seed), { visits: 1 + (seed % 20) });
    await storeRuns(dataSource, run);
    const fromMemory = await answersOf(memoryOf(indexedFromEvents(run)), run);
    const fromDatabase = await answersOf(rememberingRecords(), run);
    const history = await readRunHistory(dataSource, new RunEventStore(dataSource), limits, run.runId);
    const fromRebuilt = await answersOf(memoryOf(IndexedRun.fromHistory(run.runId, history, limits)), run);
    expect({ seed, answers: fromDatabase }).toEqual({ seed, answers: fromMemory });
    expect({ seed, answers: fromRebuilt }).toEqual({ seed, answers: fromMemory });
    seen.answers += fromMemory.filter((answer) => answer.includes('{')).length;
    seen.truncated += fromMemory.filter((answer) => answer.includes('"truncated":true')).length;
    seen.backtracks += fromMemory.filter((answer) => answer.includes('"hasBacktrack":true')).length;
  }
  expect(seen.answers).toBeGreaterThan(10_000);
  expect(seen.truncated).toBeGreaterThan(100);
  expect(seen.backtracks).toBeGreaterThan(100);
}, 120_000);

test('of runs with so many visits that only ancestors are read, memory and database answer the same paths', async () => {
  const records = new VisitRecords(dataSource, new RunEventStore(dataSource));
  let deepest = 0;
  for (let seed = 1; seed <= 3; seed += 1) {
    const run = randomRun(seededRandom(seed), { visits: 600 });
    await storeRuns(dataSource, run);
    const memory = new IndexedRun(run.runId, { ...limits, maxVisits: 1_000 });
    for (const event of run.events) memory.apply(event);
    const visits = run.visitRows.filter(({ status }) => status !== 'SKIPPED');
    for (const { visitUuid, nodeId } of visits.filter((_, at) => at % 20 === 0 || at > visits.length - 5)) {
      const holder = { runId: run.runId, visitUuid, nodeId };
      const fromMemory = await queryPath(memoryOf(memory), holder, holder);
      expect(JSON.stringify(await queryPath(records, holder, holder))).toBe(JSON.stringify(fromMemory));
      deepest = Math.max(deepest, fromMemory.visitUuids.length);
    }
    const stranger = { runId: run.runId, visitUuid: randomUUID(), nodeId: 'N1' };
    expect(await records.lineage(stranger.runId, stranger.visitUuid)).toBeNull();
    expect(await records.lineage('another', visits[0]?.visitUuid ?? '')).toBeNull();
  }
  expect(deepest).toBeGreaterThan(200);
}, 120_000);
