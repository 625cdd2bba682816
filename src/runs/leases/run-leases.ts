import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';

/** A run that this process holds: only writes under this epoch are accepted. */
export interface RunLease {
  readonly runId: string;
  readonly epoch: number;
  /** Wake-up calls the run had got when the lease was taken. */
  readonly wakes: number;
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

  /**
   * Starts a CREATED run, once whoever asks (decision 19), and takes it at once where `hold` says that this process
   * has room for it. Null when it is not CREATED. What `admit` throws, in the same transaction, keeps it from starting.
   */
  async start(
    runId: string,
    hold: boolean,
    admit?: (manager: EntityManager) => Promise<void>,
  ): Promise<{ startedAt: Date; lease: RunLease | null } | null> {
    if (!admit) return this.#start(this.dataSource.manager, runId, hold);
    return this.dataSource.transaction(async (manager) => {
      await admit(manager);
      return this.#start(manager, runId, hold);
    });
  }

  async #start(
    manager: EntityManager,
    runId: string,
    hold: boolean,
  ): Promise<{ startedAt: Date; lease: RunLease | null } | null> {
    const [rows] = await manager.query<[(RunLease & { startedAt: Date })[], number]>(
      `UPDATE runs SET status = 'RUNNING', started_at = now(),
              lease_owner = CASE WHEN $1 THEN $2 END, lease_epoch = CASE WHEN $1 THEN 1 ELSE 0 END,
              lease_until = CASE WHEN $1 THEN now() + make_interval(secs => $3) ELSE now() END
        WHERE run_id = $4 AND status = 'CREATED'
        RETURNING run_id AS "runId", lease_epoch AS epoch, wakes, started_at AS "startedAt"`,
      [hold, this.owner, this.leaseSeconds, runId],
    );
    const [row] = rows;
    if (!row) return null;
    const { startedAt, ...lease } = row;
    return { startedAt, lease: hold ? lease : null };
  }

  /** Takes a RUNNING run that nobody holds; null when somebody does, or when it has ended. */
  async claim(runId: string): Promise<RunLease | null> {
    return (
      (
        await this.#take(
          `UPDATE runs SET lease_owner = $1, lease_epoch = lease_epoch + 1,
                lease_until = now() + make_interval(secs => $2)
          WHERE run_id = $3 AND status = 'RUNNING' AND lease_until <= now()
          RETURNING run_id AS "runId", lease_epoch AS epoch, wakes`,
          [this.owner, this.leaseSeconds, runId],
        )
      )[0] ?? null
    );
  }

  /** Takes a run whoever holds it, started or not, to end it; null when it has ended. */
  async seize(runId: string): Promise<RunLease | null> {
    return (
      (
        await this.#take(
          `UPDATE runs SET status = 'RUNNING', lease_owner = $1, lease_epoch = lease_epoch + 1,
                cancel_requested_at = now(), lease_until = now() + make_interval(secs => $2)
          WHERE run_id = $3 AND status IN ('CREATED', 'RUNNING')
          RETURNING run_id AS "runId", lease_epoch AS epoch, wakes`,
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

  /** Prolongs the leases; gives the wake-up calls of those that are still held, the others are lost. */
  async renew(leases: readonly RunLease[]): Promise<ReadonlyMap<string, number>> {
    const [rows] = await this.dataSource.query<[{ run_id: string; wakes: number }[], number]>(
      `UPDATE runs SET lease_until = now() + make_interval(secs => $1)
         FROM unnest($2::text[], $3::integer[]) AS held(run_id, epoch)
        WHERE runs.run_id = held.run_id AND runs.lease_epoch = held.epoch AND runs.status = 'RUNNING'
        RETURNING runs.run_id, runs.wakes`,
      [this.leaseSeconds, leases.map(({ runId }) => runId), leases.map(({ epoch }) => epoch)],
    );
    return new Map(rows.map(({ run_id, wakes }) => [run_id, wakes]));
  }

  /**
   * Wakes a run that rests; one that is held sees the call when it renews its lease or lies down.
   * True when the run rested, and may now be claimed.
   */
  async wake(runId: string): Promise<boolean> {
    const [rows] = await this.dataSource.query<[{ rested: boolean }[], number]>(
      `UPDATE runs SET wakes = wakes + 1, lease_until = CASE WHEN lease_owner IS NULL THEN now() ELSE lease_until END
        WHERE run_id = $1 AND status = 'RUNNING' RETURNING lease_owner IS NULL AS rested`,
      [runId],
    );
    return rows[0]?.rested ?? false;
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
