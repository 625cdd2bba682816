import { jest } from '@jest/globals';
import { EventEmitter } from 'node:events';
import type { DataSource } from 'typeorm';
import { closeConnections } from './close-connections.js';

/** A data source whose pool says goodbye to `open` connections, which close when the test says so. */
function dataSourceWith(open: number) {
  const pool = Object.assign(new EventEmitter(), { totalCount: open });
  const destroy = jest.fn(() => Promise.resolve());
  return { pool, destroy, dataSource: { driver: { master: pool }, destroy } as unknown as DataSource };
}

describe('closeConnections', () => {
  it('waits for the last connection to be closed', async () => {
    const { pool, destroy, dataSource } = dataSourceWith(2);
    let isDone = false;
    const closing = closeConnections(dataSource).then(() => (isDone = true));
    for (const done of [false, false]) {
      await new Promise(setImmediate);
      expect([destroy.mock.calls.length, isDone]).toEqual([1, done]);
      pool.emit('remove');
    }
    await closing;
  });

  it('has nothing to wait for where there is none', async () => {
    const { destroy, dataSource } = dataSourceWith(0);
    await closeConnections(dataSource);
    expect(destroy).toHaveBeenCalledTimes(1);
  });

  it('does not wait for ever', async () => {
    jest.useFakeTimers();
    const { dataSource } = dataSourceWith(1);
    const closing = closeConnections(dataSource);
    await jest.advanceTimersByTimeAsync(2_000);
    await closing;
    jest.useRealTimers();
  });
});
