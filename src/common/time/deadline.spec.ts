import { deadline } from './deadline.js';

describe('deadline', () => {
  it('aborts when its time is over', async () => {
    const { signal, hasPassed, close } = deadline(5);
    expect(signal.aborted).toBe(false);
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
    expect(hasPassed()).toBe(true);
    close();
  });

  it("aborts with its parent's reason, also when that came first", () => {
    const parent = new AbortController();
    const before = deadline(60_000, parent.signal);
    parent.abort(new Error('enough'));
    const after = deadline(60_000, parent.signal);
    for (const { signal, hasPassed, close } of [before, after]) {
      expect(signal.reason).toEqual(new Error('enough'));
      expect(hasPassed()).toBe(false);
      close();
    }
  });

  it('does nothing more once it is closed', () => {
    const parent = new AbortController();
    const { signal, close } = deadline(60_000, parent.signal);
    close();
    parent.abort();
    expect(signal.aborted).toBe(false);
  });
});
