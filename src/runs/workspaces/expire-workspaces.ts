import { lstat } from 'node:fs/promises';
import type { DataSource } from 'typeorm';
import type { Workspaces } from './workspaces.js';

const BATCH = 100;
const SWEEP_BATCH = 1000;
/** A folder without a run may belong to a creation that is just being committed. */
const ORPHAN_AGE_MS = 24 * 3_600_000;

/**
 * Removes the files of runs whose `ttlHours` are over (decision 17); the run's record stays. Any number of
 * processes may do so at the same time, and a crash at any point is made good by the next pass.
 */
export class ExpireWorkspaces {
  readonly #dataSource: DataSource;
  readonly #workspaces: Workspaces;

  constructor(dataSource: DataSource, workspaces: Workspaces) {
    this.#dataSource = dataSource;
    this.#workspaces = workspaces;
  }

  /** Returns how many workspaces it removed. */
  async execute(): Promise<number> {
    let removed = 0;
    for (;;) {
      const batch = await this.#expireBatch();
      removed += batch;
      await this.#workspaces.emptyTrash();
      if (batch < BATCH) return removed;
    }
  }

  /** Removes what uploads and creations left behind that a crash cut off. */
  async sweep(): Promise<void> {
    await this.#workspaces.removeStale(ORPHAN_AGE_MS);
    let runIds: string[] = [];
    for await (const runId of this.#workspaces.runIds()) {
      runIds.push(runId);
      if (runIds.length < SWEEP_BATCH) continue;
      await this.#removeOrphans(runIds);
      runIds = [];
    }
    await this.#removeOrphans(runIds);
  }

  #expireBatch(): Promise<number> {
    return this.#dataSource.transaction(async (manager) => {
      // The expression is that of the index runs_workspace_expiry.
      const due = await manager.query<{ runId: string }[]>(
        `SELECT run_id AS "runId" FROM runs
          WHERE workspace_expired_at IS NULL AND status <> 'RUNNING'
            AND (coalesce(completed_at, created_at) AT TIME ZONE 'UTC') + ttl_hours * interval '1 hour'
                <= now() AT TIME ZONE 'UTC'
          LIMIT $1 FOR UPDATE SKIP LOCKED`,
        [BATCH],
      );
      const runIds = due.map(({ runId }) => runId);
      // The folders vanish before the commit: a crash in between leaves the runs due, and the next pass marks them.
      for (const runId of runIds) await this.#workspaces.discard(runId);
      await manager.query(`UPDATE runs SET workspace_expired_at = now() WHERE run_id = ANY($1)`, [runIds]);
      return runIds.length;
    });
  }

  async #removeOrphans(runIds: readonly string[]): Promise<void> {
    const rows = await this.#dataSource.query<{ runId: string }[]>(
      `SELECT asked AS "runId" FROM unnest($1::text[]) AS asked
        WHERE NOT EXISTS (SELECT FROM runs WHERE run_id = asked AND workspace_expired_at IS NULL)`,
      [runIds],
    );
    for (const { runId } of rows) {
      const { mtimeMs } = await lstat(this.#workspaces.directory(runId));
      if (Date.now() - mtimeMs > ORPHAN_AGE_MS) await this.#workspaces.remove(runId);
    }
  }
}
