import { nodeVisit } from '../../../test/factories/node-visit.js';
import { DelayExecutor } from './delay.executor.js';

describe('delay', () => {
  const act = (seconds: number, waited: { kind: string; until: string } | null = null) =>
    new DelayExecutor().execute(nodeVisit('delay', { seconds }, { waited }));

  it('waits for the moment that is so many seconds away, fractions included', async () => {
    const before = Date.now();
    const result = await act(1.25);
    const after = Date.now();
    if (result.kind !== 'waiting' || !result.wakeAt) throw new Error('it does not wait');
    expect(result.wakeAt.getTime()).toBeGreaterThanOrEqual(before + 1250);
    expect(result.wakeAt.getTime()).toBeLessThanOrEqual(after + 1250);
    expect(result.waitingFor).toEqual({ kind: 'time', until: result.wakeAt.toISOString() });
  });

  it('keeps to the moment that was stored, whatever it would say now', async () => {
    const waited = { kind: 'time', until: new Date(Date.now() + 60_000).toISOString() };
    expect(await act(5, waited)).toEqual({
      kind: 'waiting',
      waitingFor: waited,
      wakeAt: new Date(waited.until),
    });
  });

  it('goes on once the moment has come', async () => {
    const until = new Date(Date.now() - 1).toISOString();
    expect(await act(3600, { kind: 'time', until })).toEqual({ kind: 'completed', data: {} });
    expect(await act(0)).toEqual({ kind: 'completed', data: {} });
  });
});
