import { jest } from '@jest/globals';
import type { ExecutionInput } from './execution-input.js';
import type { ExecutionServices } from './execution-services.js';
import type { ExecutionState } from './execution-state.js';
import type { VisitState } from './visit-state.js';
import { WaitingVisits } from './waiting-visits.js';

describe('a visit that waits for a time', () => {
  beforeEach(() => {
    jest.useFakeTimers();
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  /** What is launched when the visit is due, in an execution that then goes on or does not. */
  async function launchedWhenDue(goesOn: boolean): Promise<number> {
    const visit = { status: 'WAITING', wakeAt: new Date(Date.now() + 1_000), items: new Set() };
    const acts = { status: 'RUNNING', items: new Set() };
    const state = {
      book: { active: [visit, acts] as unknown as VisitState[], anyStarved: false, walksItems: false },
      isFinished: () => false,
      goesOn: jest.fn(() => true),
    };
    const launch = jest.fn();
    const waiting = new WaitingVisits(
      { lease: { wakes: 0 } } as ExecutionInput,
      {} as ExecutionServices,
      null,
      state as unknown as ExecutionState,
      { feed: () => Promise.resolve(), launch },
    );
    await waiting.goOn(null);
    state.goesOn.mockReturnValue(goesOn);
    await jest.advanceTimersByTimeAsync(1_000);
    waiting.stopClocks();
    return launch.mock.calls.length;
  }

  it('acts when it is due', async () => {
    expect(await launchedWhenDue(true)).toBe(1);
  });

  it('stays where it is when the run is about to end', async () => {
    expect(await launchedWhenDue(false)).toBe(0);
  });
});
