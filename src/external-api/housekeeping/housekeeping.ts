import { Injectable, Logger, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { ExpireWorkspaces } from '../../runs/workspaces/expire-workspaces.js';
import { Workspaces } from '../../runs/workspaces/workspaces.js';
import { IdempotencyKeys } from '../idempotency/idempotency-keys.js';

const EXPIRE_MILLIS = 60_000;
const SWEEP_MILLIS = 3_600_000;

/** Removes what is past its time: workspaces, idempotency keys, leftovers of crashes. Also right after a start. */
@Injectable()
export class Housekeeping implements OnApplicationBootstrap, OnModuleDestroy {
  readonly #log = new Logger(Housekeeping.name);
  readonly #expire: ExpireWorkspaces;
  readonly #timers: NodeJS.Timeout[] = [];
  readonly #running = new Map<string, Promise<void>>();

  constructor(
    dataSource: DataSource,
    workspaces: Workspaces,
    private readonly idempotencyKeys: IdempotencyKeys,
  ) {
    this.#expire = new ExpireWorkspaces(dataSource, workspaces);
  }

  onApplicationBootstrap(): void {
    this.#every(EXPIRE_MILLIS, 'expired workspaces', () => this.#expire.execute());
    this.#every(SWEEP_MILLIS, 'leftovers', () => this.#expire.sweep());
    this.#every(SWEEP_MILLIS, 'old idempotency keys', () => this.idempotencyKeys.removeExpired());
  }

  async onModuleDestroy(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer);
    await Promise.all(this.#running.values());
  }

  #every(millis: number, what: string, task: () => Promise<unknown>): void {
    const run = (): void => {
      if (this.#running.has(what)) return;
      const running = task()
        .then(() => undefined)
        .catch((error: unknown) => this.#log.error(`${what} could not be removed: ${String(error)}`))
        .finally(() => this.#running.delete(what));
      this.#running.set(what, running);
    };
    this.#timers.push(setInterval(run, millis));
    run();
  }
}
