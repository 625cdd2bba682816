import type { EntityManager } from 'typeorm';
import type { ApiKeyIdentity } from '../../api-keys/index.js';
import { RateLimitedError } from './rate-limited.error.js';

/** When a run of the key will end is unknown; clients ask again after that many seconds. */
const RETRY_AFTER_SECONDS = 5;

/**
 * Refuses the start of a run when the key has as many running as it may. Call it in the transaction that starts
 * the run: starts of one key come one after the other, in whatever process, so the count is exact.
 */
export async function admitRun(
  manager: EntityManager,
  { name, maxConcurrentRuns }: ApiKeyIdentity,
): Promise<void> {
  if (maxConcurrentRuns === null) return;
  await manager.query(`SELECT pg_advisory_xact_lock(hashtextextended('start-of-run:' || $1, 0))`, [name]);
  const [row] = await manager.query<{ running: number }[]>(
    `SELECT count(*)::integer AS running FROM runs
      WHERE status = 'RUNNING' AND api_key_name = $1 AND parent_run_id IS NULL`,
    [name],
  );
  if ((row?.running ?? 0) < maxConcurrentRuns) return;
  throw new RateLimitedError(
    `the key is limited to ${maxConcurrentRuns} runs at the same time`,
    RETRY_AFTER_SECONDS,
  );
}
