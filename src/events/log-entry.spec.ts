import { RecordedRun } from '../../test/factories/recorded-run.js';
import { logTypeOf, toLogEntry } from './log-entry.js';

test('an event is a log entry exactly where its projection has it stored as one', () => {
  const run = new RecordedRun();
  const visit = run.begin('A');
  run.log(
    visit,
    { type: 'thinking', text: 't' },
    { type: 'text', text: 't' },
    { type: 'tool_call', tool: 'search', callId: 'c', args: {} },
    { type: 'tool_result', tool: 'search', callId: 'c', result: null, error: null },
    { type: 'todo', todos: [] },
    { type: 'info', message: 'm' },
  );
  run.record({ kind: 'visit-waiting', visit, waitingFor: {} });
  run.fail(visit, 'broken');
  run.end(run.begin('B'));
  run.skip('C');
  run.finish();
  expect(run.events.map(({ event }) => logTypeOf(event))).toEqual(
    run.eventRows.map(({ logType }) => logType),
  );
  expect(new Set(run.eventRows.map(({ logType }) => logType)).size).toBe(7);
});

test('a failure’s entry is its error, a tool’s is its name with the text of what went in or came out', () => {
  const run = new RecordedRun();
  const visit = run.begin('A');
  run.log(
    visit,
    { type: 'tool_call', tool: 'search', callId: 'c', args: { q: 1 } },
    { type: 'tool_result', tool: 'search', callId: 'c', result: '结果', error: null },
    { type: 'tool_result', tool: 'search', callId: 'c', result: null, error: 'no' },
  );
  run.fail(visit, 'broken');
  const entries = run.eventRows.flatMap(({ logType, payload }) =>
    logType ? [toLogEntry(logType, payload)] : [],
  );
  expect(entries.map(({ message, detail }) => [message, detail])).toEqual([
    ['search', '{"q":1}'],
    ['search', '结果'],
    ['search', 'no'],
    ['broken', null],
  ]);
});
