import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';

/** A callback that one process has taken to send it. */
export interface DueCallback {
  runId: string;
  /** The attempt that is being made, from 1. */
  attempts: number;
}

/** A callback taken by a process that died is taken again after that long; longer than any attempt lasts. */
const TAKEN_SECONDS = 120;

/**
 * The stored callbacks. A run's record says that it has one, so nothing but the run's own transaction is needed to
 * owe it.
 */
@Injectable()
export class CallbackOutbox {
  constructor(private readonly dataSource: DataSource) {}

  /** Makes the callback of an ended run due, where it has one. Once: a second call changes nothing. */
  async runEnded(runId: string): Promise<boolean> {
    const added = await this.dataSource.query<unknown[]>(
      `INSERT INTO run_callbacks (run_id, state, attempts, next_attempt_at, created_at)
       SELECT run_id, 'due', 0, now(), now() FROM runs
        WHERE run_id = $1 AND callback_url IS NOT NULL AND status IN ('SUCCESS', 'FAILED')
       ON CONFLICT (run_id) DO NOTHING RETURNING 1`,
      [runId],
    );
    return added.length > 0;
  }

  /** The same for runs that ended within the last hours, in a process that died or in another one. */
  async collectEnded(hours: number): Promise<void> {
    await this.dataSource.query(
      `INSERT INTO run_callbacks (run_id, state, attempts, next_attempt_at, created_at)
       SELECT run_id, 'due', 0, now(), now() FROM runs
        WHERE callback_url IS NOT NULL AND completed_at > now() - make_interval(hours => $1)
          AND NOT EXISTS (SELECT FROM run_callbacks sent WHERE sent.run_id = runs.run_id)
       ON CONFLICT (run_id) DO NOTHING`,
      [hours],
    );
  }

  /** Takes at most `limit` callbacks whose time has come; no other process gets them meanwhile. */
  async take(limit: number): Promise<DueCallback[]> {
    const [rows] = await this.dataSource.query<[DueCallback[], number]>(
      `UPDATE run_callbacks
          SET attempts = attempts + 1, next_attempt_at = now() + make_interval(secs => $2)
        WHERE run_id IN (SELECT run_id FROM run_callbacks
                          WHERE state = 'due' AND next_attempt_at <= now()
                          ORDER BY next_attempt_at LIMIT $1 FOR UPDATE SKIP LOCKED)
        RETURNING run_id AS "runId", attempts`,
      [limit, TAKEN_SECONDS],
    );
    return rows;
  }

  async delivered(runId: string): Promise<void> {
    await this.dataSource.query(
      `UPDATE run_callbacks SET state = 'delivered', ended_at = now(), last_error = NULL WHERE run_id = $1`,
      [runId],
    );
  }

  /** `retryMillis` null: it will not be tried again. */
  async failed(runId: string, error: string, retryMillis: number | null): Promise<void> {
    await this.dataSource.query(
      `UPDATE run_callbacks
          SET state = CASE WHEN $3::float8 IS NULL THEN 'failed' ELSE 'due' END, last_error = $2,
              next_attempt_at = now() + make_interval(secs => $3 / 1000),
              ended_at = CASE WHEN $3 IS NULL THEN now() END
        WHERE run_id = $1`,
      [runId, JSON.stringify(error), retryMillis],
    );
  }
}
