import { newRun } from '../../../test/factories/new-run.js';
import { CreatedRuns } from './created-runs.js';

describe('CreatedRuns', () => {
  it('gives a run once, unchanged by what its creator does with it later', () => {
    const created = new CreatedRuns();
    const run = newRun('a', { list: [1] });
    created.remember(run);
    run.variables.list = [2];
    expect(created.take('a')).toMatchObject({ runId: 'a', status: 'CREATED', variables: { list: [1] } });
    expect(created.take('a')).toBeNull();
  });

  it('keeps the last 256', () => {
    const created = new CreatedRuns();
    for (let at = 0; at <= 256; at += 1) created.remember(newRun(`r${at}`));
    expect([created.take('r0'), created.take('r1')?.runId, created.take('r256')?.runId]).toEqual([
      null,
      'r1',
      'r256',
    ]);
  });

  it('keeps none with large variables', () => {
    const created = new CreatedRuns();
    // With `{"t":""}` 16,384 and 16,385 characters.
    created.remember(newRun('fits', { t: 'x'.repeat(16_376) }));
    created.remember(newRun('large', { t: 'x'.repeat(16_377) }));
    expect(created.take('fits')).not.toBeNull();
    expect(created.take('large')).toBeNull();
  });
});
