import type pg from 'pg';
import type { DataSource } from 'typeorm';

/** A server that no longer answers shall not keep ours from ending. */
const LONGEST_WAIT_MILLIS = 2_000;

/**
 * Ends every connection and waits until they are closed: `destroy` alone resolves when the goodbyes are on their way,
 * and a PostgreSQL that is stopped then tells the connections that are still open so, which looks like a failure.
 */
export async function closeConnections(dataSource: DataSource): Promise<void> {
  const { master: pool } = dataSource.driver as unknown as { master: pg.Pool };
  const closed = allClosed(pool);
  await dataSource.destroy();
  await closed;
}

function allClosed(pool: pg.Pool): Promise<void> {
  let open = pool.totalCount;
  if (open === 0) return Promise.resolve();
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, LONGEST_WAIT_MILLIS);
    pool.on('remove', () => {
      open -= 1;
      if (open > 0) return;
      clearTimeout(timer);
      resolve();
    });
  });
}
