import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';

/** A run that this process holds: only writes under this epoch are accepted. */
export interface RunLease {
  readonly runId: string;
  readonly epoch: number;
}

/**
 * Who executes which run (decision 33). A lease is taken by raising the run's epoch, which shuts out every earlier
 * holder at once, whether it knows it or not.
 */
@Injectable()
export class RunLeases {
  constructor(
    private readonly dataSource: DataSource,
    /** Names this process among all that share the database. */
    readonly owner: string,
    readonly leaseSeconds: number,
  ) {}

  /** Takes a RUNNING run that nobody holds; null when somebody does, or when it has ended. */
  async claim(runId: string): Promise<RunLease | null> {
    return (
      (
        await this.#take(
          `UPDATE runs SET lease_owner = $1, lease_epoch = lease_epoch + 1,
                lease_until = now() + make_interval(secs => $2)
          WHERE run_id = $3 AND status = 'RUNNING' AND lease_until <= now()
          RETURNING run_id AS "runId", lease_epoch AS epoch`,
          [this.owner, this.leaseSeconds, runId],
        )
      )[0] ?? null
    );
  }

  /** Takes a RUNNING run whoever holds it, to end it; null when it has ended. */
  async seize(runId: string): Promise<RunLease | null> {
    return (
      (
        await this.#take(
          `UPDATE runs SET lease_owner = $1, lease_epoch = lease_epoch + 1, cancel_requested_at = now(),
                lease_until = now() + make_interval(secs => $2)
          WHERE run_id = $3 AND status = 'RUNNING'
          RETURNING run_id AS "runId", lease_epoch AS epoch`,
          [this.owner, this.leaseSeconds, runId],
        )
      )[0] ?? null
    );
  }

  /** Ids of RUNNING runs that nobody holds, oldest claim first. */
  async claimable(limit: number): Promise<string[]> {
    const rows = await this.dataSource.query<{ run_id: string }[]>(
      `SELECT run_id FROM runs WHERE status = 'RUNNING' AND lease_until <= now()
        ORDER BY lease_until LIMIT $1`,
      [limit],
    );
    return rows.map(({ run_id }) => run_id);
  }

  /** Prolongs the leases and gives those that are still held; the others are lost. */
  async renew(leases: readonly RunLease[]): Promise<ReadonlySet<string>> {
    const [rows] = await this.dataSource.query<[{ run_id: string }[], number]>(
      `UPDATE runs SET lease_until = now() + make_interval(secs => $1)
         FROM unnest($2::text[], $3::integer[]) AS held(run_id, epoch)
        WHERE runs.run_id = held.run_id AND runs.lease_epoch = held.epoch AND runs.status = 'RUNNING'
        RETURNING runs.run_id`,
      [this.leaseSeconds, leases.map(({ runId }) => runId), leases.map(({ epoch }) => epoch)],
    );
    return new Set(rows.map(({ run_id }) => run_id));
  }

  /** Gives runs back unfinished, for whoever comes first. */
  async release(leases: readonly RunLease[]): Promise<void> {
    await this.dataSource.query(
      `UPDATE runs SET lease_owner = NULL, lease_until = now()
         FROM unnest($1::text[], $2::integer[]) AS held(run_id, epoch)
        WHERE runs.run_id = held.run_id AND runs.lease_epoch = held.epoch AND runs.status = 'RUNNING'`,
      [leases.map(({ runId }) => runId), leases.map(({ epoch }) => epoch)],
    );
  }

  /**
   * Makes every held run claimable at once. Only for a database that no other process can be using: what held
   * them is dead.
   */
  async forfeitAll(): Promise<void> {
    await this.dataSource.query(
      `UPDATE runs SET lease_owner = NULL, lease_until = now()
        WHERE status = 'RUNNING' AND lease_owner IS NOT NULL`,
    );
  }

  async #take(sql: string, parameters: unknown[]): Promise<RunLease[]> {
    const [rows] = await this.dataSource.query<[RunLease[], number]>(sql, parameters);
    return rows;
  }
}
