import { jest } from '@jest/globals';
import type { VisitRef } from '../../../src/events/run-event.js';
import { RecordedRun } from '../../factories/recorded-run.js';
import { startContextApp, type ContextApp } from '../../support/context-query/context-app.js';
import { send } from '../../support/context-query/context-client.js';
import { storeRuns } from '../../support/context-query/store-runs.js';
import { createTestDatabase, type TestDatabase } from '../../support/test-database.js';

let database: TestDatabase;
let app: ContextApp;

beforeAll(async () => {
  database = await createTestDatabase();
});
beforeEach(async () => {
  app = await startContextApp({ dataSource: database.dataSource });
});
afterEach(() => app.close());
afterAll(() => database.close());

async function ask(run: RecordedRun, visit: VisitRef, query: string, body: object): Promise<never> {
  const issued = app.tokens.issue({ runId: run.runId, ...visit, notAfter: new Date(Date.now() + 60_000) });
  const answer = await send(`${issued?.base_url}/internal/context/${query}`, {
    headers: { 'X-Context-Token': issued?.token },
    body: { runId: run.runId, ...body },
  });
  expect(answer.status).toBe(200);
  return answer.json?.data as never;
}

function publish(run: RecordedRun, fromSeq = 1): void {
  for (const event of run.events.slice(fromSeq - 1)) app.bus.publish(event);
}

test('a run that goes on after a restart answers with all its past, first from the database, then from memory', async () => {
  const run = new RecordedRun();
  const a = run.begin('A');
  run.think(a, 'before the restart');
  run.end(a, { n: 1 });
  const b = run.begin('B', [a]);
  run.think(b, 'half a tho');
  const before = run.events.length;
  run.retry(b);
  run.log(b, { type: 'info', message: 'again' });
  await storeRuns(database.dataSource, run);
  publish(run, before + 1);
  const answers = async (): Promise<object[]> => [
    await ask(run, b, 'path', { visitUuid: b.visitUuid }),
    await ask(run, b, 'output', { nodeId: 'A' }),
    await ask(run, b, 'meta', { nodeId: 'A' }),
    await ask(run, b, 'meta', { visitUuid: b.visitUuid }),
  ];
  const fromDatabase = await answers();
  await app.index.settled();
  expect(app.index.lineage(run.runId, b.visitUuid)?.visits).toHaveLength(2);
  expect(await answers()).toEqual(fromDatabase);
  expect(fromDatabase[3]).toMatchObject({ thinking: 'half a tho', logs: [{}, { message: 'again' }] });
});

test('beyond 200 visits the oldest are answered from the database', async () => {
  const run = new RecordedRun();
  const visits: VisitRef[] = [];
  for (let at = 0; at < 250; at += 1) {
    const visit = run.begin(`N${at}`, visits.slice(-1));
    run.end(visit, { at });
    visits.push(visit);
  }
  const caller = run.begin('caller', visits.slice(-1));
  await storeRuns(database.dataSource, run);
  publish(run);
  expect(app.index.lineage(run.runId, caller.visitUuid)).toBeUndefined();
  const path = await ask(run, caller, 'path', { visitUuid: caller.visitUuid });
  const sequence = (path as { paths: { sequence: string[] }[] }).paths[0]?.sequence;
  expect(sequence).toHaveLength(200);
  expect(sequence?.slice(-2)).toEqual(['N249', 'caller']);
  expect(await ask(run, caller, 'output', { nodeId: 'N0' })).toMatchObject({ data: { at: 0 } });
  expect(await ask(run, caller, 'output', { nodeId: 'N249' })).toMatchObject({ data: { at: 249 } });
});

test('of a run with very many visits the ancestors are read, not all of them for each query', async () => {
  const run = new RecordedRun();
  const before = run.begin('before');
  run.end(before, { n: 1 });
  for (let at = 0; at < 2_000; at += 1) run.end(run.begin('loop.each', [before]), { at });
  const caller = run.begin('loop.each', [before]);
  await storeRuns(database.dataSource, run);
  publish(run);
  expect(app.index.lineage(run.runId, caller.visitUuid)).toBeUndefined();
  const query = jest.spyOn(database.dataSource, 'query');
  try {
    const path = await ask(run, caller, 'path', { visitUuid: caller.visitUuid });
    expect(path).toMatchObject({ nodeIds: ['before', 'loop.each'], paths: [{ hasBacktrack: false }] });
    expect(await ask(run, caller, 'output', { nodeId: 'before' })).toMatchObject({ data: { n: 1 } });
    const rows = await Promise.all(query.mock.results.map(({ value }) => value as Promise<unknown[]>));
    const read = rows.reduce((sum, { length }) => sum + length, 0);
    expect(read).toBeLessThan(500);
  } finally {
    query.mockRestore();
  }
});

test('a log too long for memory is answered in full from the database', async () => {
  const run = new RecordedRun();
  const talker = run.begin('talker');
  for (let at = 0; at < 30; at += 1) {
    run.log(talker, { type: 'tool_call', tool: `t${at}`, callId: `${at}`, args: '字'.repeat(30_000) });
  }
  run.end(talker);
  const caller = run.begin('caller', [talker]);
  await storeRuns(database.dataSource, run);
  publish(run);
  expect(app.index.logs(run.runId, talker.visitUuid)).toBeUndefined();
  const { toolCalls } = await ask(run, caller, 'meta', { nodeId: 'talker', kind: 'TOOL_CALLS' });
  expect(toolCalls).toHaveLength(30);
  expect((toolCalls as object[])[29]).toEqual({ tool: 't29', args: '字'.repeat(30_000) });
});

test('a todo list among what is shown of a long log stays in its place', async () => {
  const run = new RecordedRun();
  const talker = run.begin('talker');
  run.log(talker, { type: 'info', message: 'first' }, { type: 'todo', todos: ['only'] });
  for (let at = 0; at < 10_050; at += 1) run.log(talker, { type: 'info', message: `${at}` });
  run.end(talker);
  const caller = run.begin('caller', [talker]);
  await storeRuns(database.dataSource, run);
  publish(run);
  const meta = await ask(run, caller, 'meta', { nodeId: 'talker' });
  expect(meta).toMatchObject({ todoList: ['only'], truncated: true });
  const { logs } = meta as { logs: object[] };
  expect(logs).toHaveLength(10_000);
  expect(logs.slice(0, 3)).toMatchObject([{ message: 'first' }, { type: 'TODO_UPDATE' }, { message: '0' }]);
  expect(logs.at(-1)).toMatchObject({ type: 'INFO', message: '9997' });
});

test('a log too long for an answer is cut, says so, and keeps its last todo list', async () => {
  const run = new RecordedRun();
  const talker = run.begin('talker');
  run.log(talker, { type: 'todo', todos: ['first'] });
  for (let at = 0; at < 10_050; at += 1) run.log(talker, { type: 'info', message: `${at}` });
  run.log(talker, { type: 'todo', todos: ['last'] });
  run.end(talker);
  const caller = run.begin('caller', [talker]);
  await storeRuns(database.dataSource, run);
  publish(run);
  const meta = await ask(run, caller, 'meta', { nodeId: 'talker' });
  expect(meta).toMatchObject({ todoList: ['last'], truncated: true });
  const { logs } = meta as { logs: object[] };
  expect(logs).toHaveLength(10_000);
  expect(logs.slice(0, 2)).toMatchObject([{ type: 'TODO_UPDATE', detail: '["first"]' }, { message: '0' }]);
  expect(logs.slice(-2)).toMatchObject([{ message: '9997' }, { type: 'TODO_UPDATE', detail: '["last"]' }]);
});
