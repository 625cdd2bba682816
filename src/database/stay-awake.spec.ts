import { setImmediate as nextTurn } from 'node:timers/promises';
import { jest } from '@jest/globals';
import { stayAwake } from './stay-awake.js';

describe('stayAwake', () => {
  const now = jest.spyOn(performance, 'now');
  const turns = jest.spyOn(globalThis, 'setImmediate');
  beforeEach(() => {
    now.mockReturnValue(0);
    turns.mockClear();
  });
  afterAll(() => jest.restoreAllMocks());

  /** Turns that were asked for during ten of the event loop. */
  const asked = async (): Promise<number> => {
    const before = turns.mock.calls.length;
    for (let at = 0; at < 10; at += 1) await nextTurn();
    return turns.mock.calls.length - before;
  };

  it.each(['resolves', 'rejects'])('keeps the event loop turning until the answer %s', async (way) => {
    let settle!: () => void;
    const answer = new Promise<void>((resolve, reject) => {
      settle = way === 'resolves' ? resolve : () => reject(new Error('no'));
    });
    stayAwake(answer);
    expect(await asked()).toBeGreaterThanOrEqual(9);
    settle();
    await answer.catch(() => undefined);
    expect(await asked()).toBe(0);
  });

  it('lets it sleep where the answer does not come at once', async () => {
    stayAwake(new Promise(() => undefined));
    now.mockReturnValue(1.9);
    expect(await asked()).toBeGreaterThanOrEqual(9);
    now.mockReturnValue(2);
    await nextTurn();
    expect(await asked()).toBe(0);
  });
});
