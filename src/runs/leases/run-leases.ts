import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { isConnectionError } from '../../database/connection-error.js';
import { GroupCommit } from '../../database/group-commit.js';
import { LeaseLostError } from '../journal/journal-errors.js';
import { runColumns } from '../run-columns.js';
import type { RunConnections } from '../run-connections.js';
import type { RunEntity } from '../run.entity.js';
import { RunOpening } from './run-opening.js';

/** A run that this process holds: only writes under this epoch are accepted. */
export interface RunLease {
  readonly runId: string;
  readonly epoch: number;
  /** Wake-up calls the run had got when the lease was taken. */
  readonly wakes: number;
  /** Until when nobody else can have taken the run unless it is renewed, by this process's `performance.now()`. */
  readonly heldUntil: number;
  /** Set where the lease is taken with the run's first entry, and until then is none. */
  readonly opening?: RunOpening;
}

/** A run as it was when its lease was taken. */
export interface HeldRun {
  readonly run: RunEntity;
  readonly lease: RunLease;
}

/** A run that has just been started; its lease where this process took it at once. */
export interface StartedRun {
  readonly run: RunEntity;
  readonly lease: RunLease | null;
}

/** A run whose start is still to be stored, with its first entry. */
export interface OpeningRun {
  readonly run: RunEntity;
  readonly lease: RunLease & { readonly opening: RunOpening };
}

interface StartRequest {
  readonly runId: string;
  readonly hold: boolean;
}

/** Runs of one shared statement at the most. */
const MAX_BATCH = 200;
/** Of a run that has just been started: nobody has held it before. */
export const FIRST_EPOCH = 1;

/**
 * Who executes which run (decision 33). A lease is taken by raising the run's epoch, which shuts out every earlier
 * holder at once, whether it knows it or not.
 */
@Injectable()
export class RunLeases {
  readonly #starts: GroupCommit<StartRequest, StartedRun | null>;
  readonly #lookups: GroupCommit<string, RunEntity | null>;

  constructor(
    private readonly dataSource: DataSource,
    { admission }: RunConnections,
    /** Names this process among all that share the database. */
    readonly owner: string,
    readonly leaseSeconds: number,
  ) {
    this.#starts = new GroupCommit(
      async (requests) => {
        const started = await this.#start(requests, (text, values) =>
          admission.query<RunEntity>({ name: 'start runs', text, values }),
        );
        return started.map((value) => ({ ok: true, value }));
      },
      { maxBatch: MAX_BATCH, isFatal: isConnectionError },
    );
    this.#lookups = new GroupCommit(
      async (runIds) => {
        const text = `SELECT ${runColumns(dataSource)} FROM runs WHERE run_id = ANY ($1::text[]) AND status = 'CREATED'`;
        const rows = await admission.query<RunEntity>({ name: 'find created runs', text, values: [runIds] });
        const found = new Map(rows.map((run) => [run.runId, run]));
        return runIds.map((runId) => ({ ok: true, value: found.get(runId) ?? null }));
      },
      { maxBatch: MAX_BATCH, isFatal: isConnectionError },
    );
  }

  /**
   * A CREATED run, held as it is once the first entry of its journal has started it (see RunOpening). Null when it is not
   * CREATED. `known`: the run as it was created, where the caller knows it.
   */
  async open(runId: string, known: RunEntity | null): Promise<OpeningRun | null> {
    const heldUntil = this.heldUntil();
    const run = known ?? (await this.#lookups.submit(runId));
    if (!run) return null;
    const opening = new RunOpening(this.owner, this.leaseSeconds, new Date());
    return {
      run: { ...run, status: 'RUNNING', startedAt: opening.startedAt, leaseEpoch: FIRST_EPOCH },
      lease: { runId, epoch: FIRST_EPOCH, wakes: run.wakes, heldUntil, opening },
    };
  }

  /**
   * Starts a CREATED run, once whoever asks (decision 19), and takes it at once where `hold` says that this process
   * has room for it. Null when it is not CREATED. Runs that are started at the same time share one commit; one with
   * `admit` has a transaction of its own, in which that is asked first and may throw.
   */
  async start(
    runId: string,
    hold: boolean,
    admit?: (manager: EntityManager) => Promise<void>,
  ): Promise<StartedRun | null> {
    if (!admit) return this.#starts.submit({ runId, hold });
    return this.dataSource.transaction(async (manager) => {
      await admit(manager);
      const [started] = await this.#start([{ runId, hold }], async (text, values) => {
        const [rows] = await manager.query<[RunEntity[], number]>(text, values);
        return rows;
      });
      return started ?? null;
    });
  }

  async #start(
    requests: readonly StartRequest[],
    update: (text: string, values: unknown[]) => Promise<RunEntity[]>,
  ): Promise<(StartedRun | null)[]> {
    const hold = new Map(requests.map((request) => [request.runId, request.hold]));
    const heldUntil = this.heldUntil();
    const rows = await update(
      `UPDATE runs SET status = 'RUNNING', started_at = now(),
              lease_owner = CASE WHEN asked.hold THEN $1 END, lease_epoch = CASE WHEN asked.hold THEN 1 ELSE 0 END,
              lease_until = CASE WHEN asked.hold THEN now() + make_interval(secs => $2) ELSE now() END
         FROM unnest($3::text[], $4::boolean[]) AS asked(run_id, hold)
        WHERE runs.run_id = asked.run_id AND runs.status = 'CREATED'
        RETURNING ${runColumns(this.dataSource)}`,
      [this.owner, this.leaseSeconds, [...hold.keys()], [...hold.values()]],
    );
    const started = new Map(rows.map((run) => [run.runId, run]));
    return requests.map(({ runId }) => {
      const run = started.get(runId);
      // Of several requests for one run in the same commit, the first has started it.
      started.delete(runId);
      return run ? { run, lease: hold.get(runId) ? leaseOf(run, heldUntil) : null } : null;
    });
  }

  /** Takes a RUNNING run that nobody holds; null when somebody does, or when it has ended. */
  claim(runId: string): Promise<HeldRun | null> {
    return this.#take(
      `UPDATE runs SET lease_owner = $1, lease_epoch = lease_epoch + 1,
              lease_until = now() + make_interval(secs => $2)
        WHERE run_id = $3 AND status = 'RUNNING' AND lease_until <= now()`,
      runId,
    );
  }

  /**
   * Takes a run whoever holds it, started or not, to cancel it; null when it has ended, or when somebody else is
   * cancelling it just now.
   */
  seize(runId: string): Promise<HeldRun | null> {
    return this.#take(
      `UPDATE runs SET status = 'RUNNING', lease_owner = $1, lease_epoch = lease_epoch + 1,
              cancel_requested_at = now(), lease_until = now() + make_interval(secs => $2)
        WHERE run_id = $3 AND status IN ('CREATED', 'RUNNING')
          AND (cancel_requested_at IS NULL OR lease_until <= now())`,
      runId,
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

  /**
   * Prolongs the leases; gives the wake-up calls of those that are still held. The others are lost, or given back: a run
   * that rests is not to rest longer for it.
   */
  async renew(leases: readonly Pick<RunLease, 'runId' | 'epoch'>[]): Promise<ReadonlyMap<string, number>> {
    const [rows] = await this.dataSource.query<[{ run_id: string; wakes: number }[], number]>(
      `UPDATE runs SET lease_until = now() + make_interval(secs => $1)
         FROM unnest($2::text[], $3::integer[]) AS held(run_id, epoch)
        WHERE runs.run_id = held.run_id AND runs.lease_epoch = held.epoch AND runs.status = 'RUNNING'
          AND runs.lease_owner IS NOT NULL
        RETURNING runs.run_id, runs.wakes`,
      [this.leaseSeconds, leases.map(({ runId }) => runId), leases.map(({ epoch }) => epoch)],
    );
    return new Map(rows.map(({ run_id, wakes }) => [run_id, wakes]));
  }

  /**
   * Wakes a run that rests; one that is held sees the call when it renews its lease or lies down.
   * True when the run rested, and may now be claimed.
   */
  async wake(runId: string, manager: EntityManager = this.dataSource.manager): Promise<boolean> {
    const [rows] = await manager.query<[{ rested: boolean }[], number]>(
      `UPDATE runs SET wakes = wakes + 1, lease_until = CASE WHEN lease_owner IS NULL THEN now() ELSE lease_until END
        WHERE run_id = $1 AND status = 'RUNNING' RETURNING lease_owner IS NULL AS rested`,
      [runId],
    );
    return rows[0]?.rested ?? false;
  }

  /**
   * Keeps the run from being taken over until the transaction ends. Throws LeaseLostError where it has been already:
   * what a node does beside the journal is fenced with it.
   */
  async requireHeld(
    { runId, epoch }: Pick<RunLease, 'runId' | 'epoch'>,
    manager: EntityManager,
  ): Promise<void> {
    const held = await manager.query<unknown[]>(
      `SELECT 1 FROM runs WHERE run_id = $1 AND lease_epoch = $2 AND status = 'RUNNING' FOR SHARE`,
      [runId, epoch],
    );
    if (held.length === 0) throw new LeaseLostError(runId);
  }

  /** Gives runs back unfinished, for whoever comes first. */
  async release(leases: readonly Pick<RunLease, 'runId' | 'epoch'>[]): Promise<void> {
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

  /** Of a lease that is asked for now: the server counts from a moment that is not earlier. */
  heldUntil(): number {
    return performance.now() + this.leaseSeconds * 1000;
  }

  async #take(update: string, runId: string): Promise<HeldRun | null> {
    const heldUntil = this.heldUntil();
    const [[run]] = await this.dataSource.query<[RunEntity[], number]>(
      `${update} RETURNING ${runColumns(this.dataSource)}`,
      [this.owner, this.leaseSeconds, runId],
    );
    return run ? { run, lease: leaseOf(run, heldUntil) } : null;
  }
}

function leaseOf({ runId, leaseEpoch, wakes }: RunEntity, heldUntil: number): RunLease {
  return { runId, epoch: leaseEpoch, wakes, heldUntil };
}
