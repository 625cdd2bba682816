import { jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { RecordedRun } from '../../../test/factories/recorded-run.js';
import { toLogEntry, type LogEntry } from '../../events/log-entry.js';
import { RunEventBus } from '../../events/run-event-bus.js';
import type { RunHistory } from './run-history.js';
import { VisitIndex, type VisitIndexSettings } from './visit-index.js';

const settings: VisitIndexSettings = {
  maxVisits: 200,
  maxTextBytes: 1_000,
  maxRunBytes: 1_000_000,
  maxBytes: 4_000_000,
  retentionMillis: 30 * 60_000,
};

/** What the database would tell of a run up to an event. */
function historyOf(run: RecordedRun, lastSeq = run.events.length): RunHistory {
  const logs = new Map<string, LogEntry[]>();
  const visits = run.visitRows.filter(({ status }) => status !== 'SKIPPED');
  for (const { visitUuid } of visits) logs.set(visitUuid, []);
  for (const { seq, visitUuid, logType, payload } of run.eventRows) {
    if (seq <= lastSeq && logType && visitUuid) logs.get(visitUuid)?.push(toLogEntry(logType, payload));
  }
  return {
    lastSeq,
    finished: run.events.some(({ event }) => event.kind === 'run-finished'),
    visits: visits.map((row) => ({ ...row, finished: row.envelope !== null })),
    envelopes: new Map(
      visits.flatMap(({ visitUuid, envelope }) => (envelope ? [[visitUuid, JSON.stringify(envelope)]] : [])),
    ),
    logs,
  };
}

function setUp(overrides: Partial<VisitIndexSettings> = {}) {
  const bus = new RunEventBus();
  const histories = new Map<string, () => RunHistory | Promise<RunHistory>>();
  const readHistory = jest.fn(async (runId: string) => {
    const history = histories.get(runId);
    if (!history) throw new Error('nothing is recorded');
    return history();
  });
  const index = new VisitIndex({ ...settings, ...overrides }, readHistory);
  index.start(bus);
  started.push(index);
  const publish = (run: RecordedRun, from = 1): void =>
    run.events.slice(from - 1).forEach((event) => bus.publish(event));
  return { bus, index, histories, readHistory, publish };
}

const started: VisitIndex[] = [];

afterEach(async () => {
  jest.useRealTimers();
  jest.restoreAllMocks();
  for (const index of started.splice(0)) await index.stop();
});

function example(): { run: RecordedRun; a: string; b: string } {
  const run = new RecordedRun();
  const a = run.begin('A', [], 'userInput');
  run.end(a, { topic: '题' });
  const b = run.begin('B', [a]);
  run.think(b, 'one', ' two');
  run.log(b, { type: 'text', text: 'not a log entry' });
  run.end(b, { result: 'hello' });
  return { run, a: a.visitUuid, b: b.visitUuid };
}

describe('what the bus tells', () => {
  test('is a run’s visits with predecessors, envelope and log', () => {
    const { index, publish } = setUp();
    const { run, a, b } = example();
    publish(run);
    expect(index.lineage(run.runId, b)?.visits).toMatchObject([
      { visitUuid: a, nodeId: 'A', iterSeq: 1, sortOrder: 1, predecessors: [], finished: true },
      { visitUuid: b, nodeId: 'B', iterSeq: 1, sortOrder: 2, predecessors: [a], finished: true },
    ]);
    expect(index.envelope(run.runId, b)).toBe(
      '{"status":200,"message":"调用成功","data":{"result":"hello"}}',
    );
    expect(index.logs(run.runId, b)).toMatchObject([{ type: 'THINKING', message: 'one two', detail: null }]);
  });

  test('knows no skipped node', () => {
    const { index, publish } = setUp();
    const run = new RecordedRun();
    run.skip('S');
    const again = run.begin('S');
    publish(run);
    expect(index.lineage(run.runId, again.visitUuid)?.firstVisits.get('S')).toBe(2);
  });

  test('keeps the log of a visit over its further attempts', () => {
    const { index, publish } = setUp();
    const run = new RecordedRun();
    const visit = run.begin('A');
    run.think(visit, 'first attempt');
    run.retry(visit);
    run.log(visit, { type: 'info', message: 'again' });
    publish(run);
    expect(index.logs(run.runId, visit.visitUuid)).toHaveLength(2);
    expect(index.envelope(run.runId, visit.visitUuid)).toBeNull();
  });

  test('takes an entry that comes after the visit’s end, and keeps what text it has', () => {
    const { index, publish } = setUp();
    const run = new RecordedRun();
    const visit = run.begin('A');
    run.think(visit, 'NUL \u0000, lone \ud800, 字');
    run.end(visit);
    run.think(visit, ' late');
    publish(run);
    expect(index.logs(run.runId, visit.visitUuid)).toMatchObject([
      { message: 'NUL \u0000, lone \ud800, 字 late' },
    ]);
  });

  test('counts once, however often it is told', () => {
    const { index, publish } = setUp();
    const { run, b } = example();
    publish(run);
    const { bytes } = index;
    publish(run);
    expect(index.bytes).toBe(bytes);
    expect(index.logs(run.runId, b)).toHaveLength(1);
  });
});

describe('a visit with much to say', () => {
  test('leaves its log to the database from the first entry that does not fit', () => {
    const { index, publish } = setUp();
    const run = new RecordedRun();
    const visit = run.begin('A');
    run.think(visit, 'x'.repeat(1_000));
    publish(run);
    expect(index.logs(run.runId, visit.visitUuid)).toHaveLength(1);
    const held = index.bytes;
    run.think(visit, 'x');
    run.log(visit, { type: 'info', message: 'short' });
    publish(run);
    expect(index.logs(run.runId, visit.visitUuid)).toBeUndefined();
    expect(index.bytes).toBeLessThan(held);
  });

  test('leaves its envelope to the database', () => {
    const { index, publish } = setUp();
    const run = new RecordedRun();
    const visit = run.begin('A');
    run.end(visit, { text: 'x'.repeat(1_000) });
    publish(run);
    expect(index.envelope(run.runId, visit.visitUuid)).toBeUndefined();
    expect(index.lineage(run.runId, visit.visitUuid)?.visits[0]?.finished).toBe(true);
  });

  test('a run with much text keeps that of its newest visits', () => {
    const { index, publish } = setUp({ maxRunBytes: 20_000 });
    const run = new RecordedRun();
    const visits = Array.from({ length: 20 }, (_, at) => {
      const visit = run.begin(`N${at}`);
      run.think(visit, 'x'.repeat(900));
      run.end(visit, { text: 'x'.repeat(500) });
      return visit.visitUuid;
    });
    publish(run);
    expect(index.bytes).toBeLessThanOrEqual(20_000);
    expect(index.logs(run.runId, visits[0] ?? '')).toBeUndefined();
    expect(index.envelope(run.runId, visits[0] ?? '')).toBeUndefined();
    expect(index.logs(run.runId, visits[19] ?? '')).toHaveLength(1);
    expect(index.lineage(run.runId, visits[0] ?? '')).toBeDefined();
  });
});

test('a run keeps its newest 200 visits, and answers for no lineage that goes beyond', () => {
  const { index, publish } = setUp();
  const run = new RecordedRun();
  let last = run.begin('N', []);
  const first = last;
  run.end(last);
  for (let at = 1; at < 200; at += 1) {
    last = run.begin('N', [last]);
    run.end(last);
  }
  publish(run);
  expect(index.lineage(run.runId, last.visitUuid)?.visits).toHaveLength(200);
  const lone = run.begin('M');
  run.retry(first);
  run.think(first, 'late');
  publish(run, run.events.length - 2);
  expect(index.lineage(run.runId, last.visitUuid)).toBeUndefined();
  expect(index.envelope(run.runId, first.visitUuid)).toBeUndefined();
  expect(index.logs(run.runId, first.visitUuid)).toBeUndefined();
  expect(index.lineage(run.runId, lone.visitUuid)?.firstVisits.get('N')).toBe(1);
});

describe('a run whose past it has not seen', () => {
  test('is read from the database at its first event, and goes on from there', async () => {
    const { index, histories, readHistory, publish, bus } = setUp();
    const { run, b } = example();
    const seen = run.events.length;
    const c = run.begin('C', [{ visitUuid: b, nodeId: 'B', nodeType: 'agent', label: 'B', iterSeq: 1 }]);
    histories.set(run.runId, () => historyOf(run, seen + 1));
    publish(run, seen + 1);
    run.think(c, 'meanwhile');
    bus.publish(run.events.at(-1) as never);
    expect(index.lineage(run.runId, c.visitUuid)).toBeUndefined();
    await index.settled();
    expect(readHistory).toHaveBeenCalledTimes(1);
    expect(index.lineage(run.runId, c.visitUuid)?.visits.map(({ nodeId }) => nodeId)).toEqual([
      'A',
      'B',
      'C',
    ]);
    expect(index.logs(run.runId, c.visitUuid)).toMatchObject([{ message: 'meanwhile' }]);
    expect(index.logs(run.runId, b)).toMatchObject([{ message: 'one two' }]);
    expect(index.envelope(run.runId, b)).toContain('hello');
  });

  test('takes nothing twice that the database told already', async () => {
    const { index, histories, publish } = setUp();
    const { run, b } = example();
    histories.set(run.runId, () => historyOf(run));
    publish(run, 4);
    await index.settled();
    expect(index.logs(run.runId, b)).toMatchObject([{ message: 'one two' }]);
  });

  test('takes a visit once that began while the database was read', async () => {
    const { index, histories, publish } = setUp();
    const { run } = example();
    const seen = run.events.length;
    const c = run.begin('C', []);
    run.think(c, 'meanwhile');
    run.end(c, { n: 1 });
    // The number of the newest event was read before `c` began, its row after it had ended.
    histories.set(run.runId, () => historyOf(run, seen));
    publish(run, seen);
    await index.settled();
    const { bytes } = index;
    expect(index.envelope(run.runId, c.visitUuid)).toContain('"n":1');
    expect(index.logs(run.runId, c.visitUuid)).toMatchObject([{ message: 'meanwhile' }]);
    const whole = setUp();
    whole.publish(run);
    expect(bytes).toBe(whole.index.bytes);
  });

  test('that had ended when it was read goes when its time is over', async () => {
    jest.useFakeTimers();
    const { index, histories, publish } = setUp();
    const { run, b } = example();
    run.finish();
    histories.set(run.runId, () => historyOf(run));
    // After a restart its last words are the first that are heard.
    publish(run, run.events.length);
    await index.settled();
    expect(index.lineage(run.runId, b)).toBeDefined();
    jest.advanceTimersByTime(30 * 60_000 - 1);
    expect(index.runCount).toBe(1);
    jest.advanceTimersByTime(60_000);
    expect([index.runCount, index.bytes]).toEqual([0, 0]);
  });

  test('is read when it is first asked for, and the database answers meanwhile', async () => {
    const { index, histories, readHistory } = setUp();
    const { run, b } = example();
    histories.set(run.runId, () => historyOf(run));
    expect(index.lineage(run.runId, b)).toBeUndefined();
    expect(index.logs(run.runId, b)).toBeUndefined();
    await index.settled();
    expect(readHistory).toHaveBeenCalledTimes(1);
    expect(index.lineage(run.runId, b)?.visits).toHaveLength(2);
  });

  test('is read again when another process wrote in between', async () => {
    const { index, histories, publish } = setUp();
    const { run, b } = example();
    publish(run);
    run.finish();
    const elsewhere = run.begin('C', []);
    run.think(elsewhere, 'told by nobody');
    run.end(elsewhere);
    histories.set(run.runId, () => historyOf(run));
    publish(run, run.events.length);
    await index.settled();
    expect(index.logs(run.runId, elsewhere.visitUuid)).toMatchObject([{ message: 'told by nobody' }]);
    expect(index.lineage(run.runId, b)).toBeDefined();
  });

  test('stays with the database while that cannot be read, and is tried again', async () => {
    const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
    const { index, histories, readHistory } = setUp();
    const { run, b } = example();
    index.lineage(run.runId, b);
    await index.settled();
    expect(warn).toHaveBeenCalledTimes(1);
    histories.set(run.runId, () => historyOf(run));
    expect(index.lineage(run.runId, b)).toBeUndefined();
    await index.settled();
    expect(index.lineage(run.runId, b)).toBeDefined();
    expect(readHistory).toHaveBeenCalledTimes(2);
  });
});

describe('memory', () => {
  test('holds an ended run as long as told, and an unended one on', () => {
    jest.useFakeTimers();
    const { index, publish } = setUp();
    const [{ run: ended }, { run: goesOn }] = [example(), example()];
    ended.finish();
    publish(ended);
    publish(goesOn);
    jest.advanceTimersByTime(30 * 60_000 - 1);
    expect(index.runCount).toBe(2);
    jest.advanceTimersByTime(60_000);
    expect(index.runCount).toBe(1);
    expect(index.lineage(goesOn.runId, goesOn.visitRows[0]?.visitUuid ?? '')).toBeDefined();
  });

  test('stays below its limit: ended runs go first, then those that were silent longest', () => {
    jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
    const { index, publish } = setUp({ maxBytes: 15_000 });
    const runs = Array.from({ length: 20 }, () => example());
    publish(runs[0]!.run);
    runs[1]!.run.finish();
    publish(runs[1]!.run);
    for (const { run } of runs.slice(2)) {
      publish(run);
      expect(index.bytes).toBeLessThanOrEqual(15_000);
    }
    expect(index.lineage(runs[19]!.run.runId, runs[19]!.b)).toBeDefined();
    expect(index.lineage(runs[0]!.run.runId, runs[0]!.b)).toBeUndefined();
    expect(index.lineage(runs[1]!.run.runId, runs[1]!.b)).toBeUndefined();
  });

  test('is counted to nothing when all is gone', () => {
    const { index, publish } = setUp({ retentionMillis: 0 });
    const { run } = example();
    run.finish();
    publish(run);
    expect([index.runCount, index.bytes]).toEqual([0, 0]);
  });
});
