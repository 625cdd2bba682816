import { jest } from '@jest/globals';
import type { RunEvent } from '../../events/run-event.js';
import type { JournalEntry } from './journal-entry.js';
import { JournalWriter } from './journal-writer.js';

const started: RunEvent = { kind: 'run-started' };
const step: JournalEntry = { events: [started], changed: [] };
const log: JournalEntry = { events: [started] };

/** How many commits keep the process awake when these entries, each of a run of its own, share one. */
async function awakeFor(entries: readonly JournalEntry[]): Promise<number> {
  const turns = jest.spyOn(globalThis, 'setImmediate');
  const runIds = entries.map((_, at) => `r${at}`);
  const query = jest.fn(() => Promise.resolve(runIds.map((run_id) => ({ run_id }))));
  const writer = new JournalWriter({ query: query as never }, () => undefined);
  await Promise.all(entries.map((entry, at) => writer.open({ runId: `r${at}`, epoch: 1 }, 0).record(entry)));
  expect(query).toHaveBeenCalledTimes(1);
  return turns.mock.calls.length;
}

describe('JournalWriter', () => {
  afterEach(() => {
    jest.restoreAllMocks();
  });

  it.each([
    ['a step', [step], 1],
    ['a step and what others log', [log, log, log, step], 1],
    ['only what is logged', [log], 0],
    ['the steps of many', [step, step, step, step, step], 0],
  ])('waits for its commit awake or asleep: %s', async (_what, entries, awake) => {
    expect(await awakeFor(entries)).toBe(awake);
  });
});
