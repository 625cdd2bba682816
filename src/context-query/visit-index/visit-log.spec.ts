import type { LogEntry } from '../../events/log-entry.js';
import { VisitLog } from './visit-log.js';

const entry = (type: LogEntry['type'], message: string, detail: string | null = null): LogEntry => ({
  type,
  timestamp: `at ${message}`,
  message,
  detail,
});

function logOf(entries: readonly LogEntry[], limits = { maxEntries: 100, maxBytes: 1_000 }): VisitLog {
  const log = new VisitLog(limits);
  for (const each of entries) log.append(each);
  return log;
}

test('thoughts with nothing between them are one entry, with the first one’s time', () => {
  const log = logOf([
    entry('THINKING', '第一'),
    entry('THINKING', '步'),
    entry('TOOL_CALL', 'search', '{}'),
    entry('THINKING', '第二步'),
  ]);
  expect(log.entries).toEqual([
    { ...entry('THINKING', '第一步'), timestamp: 'at 第一' },
    entry('TOOL_CALL', 'search', '{}'),
    entry('THINKING', '第二步'),
  ]);
});

test('the entries given are not changed', () => {
  const first = entry('THINKING', 'a');
  logOf([first, entry('THINKING', 'b')]);
  expect(first.message).toBe('a');
});

test('bytes count in UTF-8, message and detail', () => {
  expect(logOf([entry('TOOL_CALL', '字', 'ab')]).bytes).toBe(5);
});

test('it is full at the first entry that does not fit, and takes none after it', () => {
  const log = logOf([entry('INFO', 'x'.repeat(9)), entry('INFO', 'xx'), entry('INFO', 'x')], {
    maxEntries: 100,
    maxBytes: 10,
  });
  expect(log.full).toBe(true);
  expect(log.entries).toHaveLength(1);
});

test('it is not full while what is there just fits', () => {
  const limits = { maxEntries: 2, maxBytes: 10 };
  expect(
    logOf([entry('INFO', 'xxxxx'), entry('THINKING', 'xxx'), entry('THINKING', 'xx')], limits).full,
  ).toBe(false);
  expect(logOf([entry('INFO', 'a'), entry('INFO', 'b'), entry('INFO', 'c')], limits).full).toBe(true);
});
