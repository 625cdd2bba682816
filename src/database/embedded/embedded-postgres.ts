import type { ChildProcess } from 'node:child_process';
import { realpath } from 'node:fs/promises';
import path from 'node:path';
import { locateCluster, makeDirectory, SYSTEM_DIRECTORY } from './cluster-location.js';
import { createClusterOnce, readPassword } from './create-cluster.js';
import { DataFolderLock } from './data-folder-lock.js';
import type { DatabaseLog } from './database-log.js';
import { endLeftoverPostmaster } from './leftover-postmaster.js';
import { chooseListener, databaseUrl } from './listener.js';
import { findPostgresBinaries } from './postgres-binaries.js';
import { createDatabase, endPostmaster, startPostmaster } from './postmaster.js';

const DATABASE = 'agent_management';

/** A PostgreSQL that ends by itself more often than this within the time is not started again. */
const MAX_RESTARTS = 5;
const RESTART_WINDOW_MILLIS = 60_000;

/** A PostgreSQL of this server's own, kept in the data folder, started again when it ends by itself. */
export class EmbeddedPostgres {
  /** Settles when PostgreSQL ended although nobody stopped it, and cannot be started again. */
  readonly lost: Promise<Error>;
  #child: ChildProcess;
  #giveUp!: (reason: Error) => void;
  #stopping = false;
  #restarting: Promise<void> = Promise.resolve();
  readonly #restarts: number[] = [];

  private constructor(
    child: ChildProcess,
    private readonly lock: DataFolderLock,
    /** Of the product's database; holds the password. The same after a restart. */
    readonly url: string,
    private readonly restart: () => Promise<ChildProcess>,
    private readonly log: DatabaseLog,
  ) {
    this.lost = new Promise((resolve) => (this.#giveUp = resolve));
    this.#child = child;
    this.#watch(child);
    process.once('exit', this.#lastResort);
  }

  /**
   * Locks the data folder, creates the cluster at its first use, ends a predecessor that outlived its server and
   * waits until connections are taken. Throws DataFolderInUseError.
   */
  static async start(
    dataDir: string,
    log: DatabaseLog,
    systemDirectory = SYSTEM_DIRECTORY,
  ): Promise<EmbeddedPostgres> {
    await makeDirectory(path.resolve(dataDir));
    const directory = await realpath(dataDir);
    const lock = await DataFolderLock.acquire(directory);
    try {
      return await EmbeddedPostgres.#startLocked(directory, lock, log, systemDirectory);
    } catch (error) {
      await lock.release();
      throw error;
    }
  }

  static async #startLocked(
    directory: string,
    lock: DataFolderLock,
    log: DatabaseLog,
    systemDirectory: string,
  ): Promise<EmbeddedPostgres> {
    const location = await locateCluster(directory, systemDirectory);
    const binaries = await findPostgresBinaries(location.identity, location.copies);
    const password = await readPassword(location);
    await createClusterOnce(location, binaries, password, log);
    const listener = await chooseListener(location);
    const launch = async (): Promise<ChildProcess> => {
      await endLeftoverPostmaster(location.data, (message) => log.warn(message));
      return startPostmaster({ location, binaries, listener, password, log });
    };
    const child = await launch();
    try {
      await createDatabase(databaseUrl(password, listener, 'postgres'), DATABASE);
    } catch (error) {
      await endPostmaster(child);
      throw error;
    }
    return new EmbeddedPostgres(child, lock, databaseUrl(password, listener, DATABASE), launch, log);
  }

  /** Ends PostgreSQL, open connections included, and gives the data folder free. */
  async stop(): Promise<void> {
    this.#stopping = true;
    await this.#restarting;
    await endPostmaster(this.#child);
    process.removeListener('exit', this.#lastResort);
    await this.lock.release();
  }

  #watch(child: ChildProcess): void {
    child.once('exit', (code, signal) => {
      if (!this.#stopping) this.#restarting = this.#startAgain(String(code ?? signal));
    });
  }

  async #startAgain(how: string): Promise<void> {
    let reason = new Error(`PostgreSQL ended by itself (${how})`);
    while (this.#mayRestart()) {
      this.log.error(`${reason.message}; starting it again`);
      try {
        const child = await this.restart();
        if (child.exitCode !== null || child.signalCode !== null) throw new Error('it ended at once');
        this.#child = child;
        this.#watch(child);
        this.log.info('PostgreSQL takes connections again');
        return;
      } catch (error) {
        reason = new Error(`PostgreSQL ended by itself (${how}) and does not start again: ${String(error)}`, {
          cause: error,
        });
      }
    }
    this.#giveUp(reason);
  }

  /** Counts the attempt. */
  #mayRestart(): boolean {
    const now = Date.now();
    while (this.#restarts[0] !== undefined && this.#restarts[0] < now - RESTART_WINDOW_MILLIS) {
      this.#restarts.shift();
    }
    if (this.#stopping || this.#restarts.length >= MAX_RESTARTS) return false;
    this.#restarts.push(now);
    return true;
  }

  /** Should this process end without stop(), PostgreSQL gets at least the signal. */
  readonly #lastResort = (): void => {
    this.#child.kill('SIGINT');
  };
}
