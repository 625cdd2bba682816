import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chown, mkdir, readdir, readFile, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';
import type { BaseLogger } from 'pino';
import { locateCluster, makeDirectory, type ClusterLocation } from './cluster-location.js';
import { DataFolderLock } from './data-folder-lock.js';
import { endLeftoverPostmaster } from './leftover-postmaster.js';
import { findPostgresBinaries, type PostgresBinaries } from './postgres-binaries.js';

export type DatabaseLog = Pick<BaseLogger, 'debug' | 'info' | 'warn' | 'error'>;

const SUPERUSER = 'postgres';
const DATABASE = 'agent_management';
/** Crash recovery replays up to max_wal_size (1 GB); slow disks need their time. */
const START_MILLIS = 300_000;
/** How each way to stop is sent and how long it may take; together less than the server's 10 s. */
const STOP_WAYS: readonly (readonly [NodeJS.Signals, number])[] = [
  ['SIGINT', 5_000],
  ['SIGQUIT', 2_000],
  ['SIGKILL', 1_000],
];
/** What PostgreSQL says while the last processes of a killed predecessor are still ending. */
const STILL_ENDING = /pre-existing shared memory block|lock file "[^"]*" already exists/;

interface Listener {
  readonly host: string;
  readonly port: number;
  readonly settings: readonly string[];
}

/** A PostgreSQL that ends by itself more often than this within the time is not started again. */
const MAX_RESTARTS = 5;
const RESTART_WINDOW_MILLIS = 60_000;

/** A PostgreSQL of this server's own, kept in the data folder, started again when it ends by itself. */
export class EmbeddedPostgres {
  /** Settles when PostgreSQL ended although nobody stopped it, and cannot be started again. */
  readonly lost: Promise<Error>;
  #child: ChildProcess;
  #exited: Promise<void>;
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
    this.#exited = this.#watch(child);
    process.once('exit', this.#lastResort);
  }

  #watch(child: ChildProcess): Promise<void> {
    return new Promise((resolve) => {
      child.once('exit', (code, signal) => {
        resolve();
        if (!this.#stopping) this.#restarting = this.#startAgain(`${code ?? signal}`);
      });
    });
  }

  async #startAgain(how: string): Promise<void> {
    const now = Date.now();
    while (this.#restarts[0] !== undefined && this.#restarts[0] < now - RESTART_WINDOW_MILLIS)
      this.#restarts.shift();
    if (this.#restarts.length >= MAX_RESTARTS) {
      this.#giveUp(new Error(`PostgreSQL ended by itself again and again (${how})`));
      return;
    }
    this.#restarts.push(now);
    this.log.error(`PostgreSQL ended by itself (${how}); starting it again`);
    try {
      const child = await this.restart();
      this.#child = child;
      this.#exited = this.#watch(child);
      if (child.exitCode !== null || child.signalCode !== null) throw new Error('it ended at once');
      this.log.info('PostgreSQL takes connections again');
    } catch (error) {
      this.#giveUp(
        new Error(`PostgreSQL ended by itself (${how}) and does not start again`, { cause: error }),
      );
    }
  }

  /**
   * Locks the data folder, creates the cluster at its first use, ends a predecessor that outlived its server and
   * waits until connections are taken. Throws DataFolderInUseError.
   */
  static async start(dataDir: string, log: DatabaseLog): Promise<EmbeddedPostgres> {
    await makeDirectory(path.resolve(dataDir));
    const directory = await realpath(dataDir);
    const lock = await DataFolderLock.acquire(directory);
    try {
      const location = await locateCluster(directory);
      const binaries = await findPostgresBinaries(location.identity, location.copies);
      const password = await readPassword(location);
      await removeUnfinished(location);
      if (!(await exists(path.join(location.data, 'PG_VERSION'))))
        await createCluster(location, binaries, password, log);
      const listener = await chooseListener(location);
      const launch = async (): Promise<ChildProcess> => {
        await endLeftoverPostmaster(location.data, (message) => log.warn(message));
        return startPostmaster(location, binaries, listener, password, log);
      };
      const child = await launch();
      const url = databaseUrl(password, listener, DATABASE);
      const server = new EmbeddedPostgres(child, lock, url, launch, log);
      try {
        await createDatabase(databaseUrl(password, listener, 'postgres'));
      } catch (error) {
        await server.stop();
        throw error;
      }
      return server;
    } catch (error) {
      await lock.release();
      throw error;
    }
  }

  /** Ends PostgreSQL, open connections included, and gives the data folder free. */
  async stop(): Promise<void> {
    this.#stopping = true;
    await this.#restarting;
    await endChild(this.#child, this.#exited);
    process.removeListener('exit', this.#lastResort);
    await this.lock.release();
  }

  /** Should this process end without stop(), PostgreSQL gets at least the signal. */
  readonly #lastResort = (): void => {
    this.#child.kill('SIGINT');
  };
}

async function endChild(child: ChildProcess, exited: Promise<void>): Promise<void> {
  for (const [signal, millis] of STOP_WAYS) {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill(signal);
    const timer = new AbortController();
    await Promise.race([exited, delay(millis, undefined, { signal: timer.signal }).catch(() => undefined)]);
    timer.abort();
  }
}

function databaseUrl(password: string, { host, port }: Listener, database: string): string {
  const url = new URL(`postgresql://localhost:${port}/${database}`);
  url.username = SUPERUSER;
  url.password = password;
  if (host.startsWith('/')) url.searchParams.set('host', host);
  else url.hostname = host;
  return url.href;
}

async function readPassword({ home, data }: ClusterLocation): Promise<string> {
  const file = path.join(home, 'password');
  try {
    return (await readFile(file, 'utf8')).trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    if (await exists(path.join(data, 'PG_VERSION'))) {
      throw new Error(`the password of the embedded PostgreSQL is missing: ${file}`, { cause: error });
    }
  }
  const password = randomBytes(24).toString('hex');
  await writeFile(file, `${password}\n`, { mode: 0o600, flag: 'wx' });
  return password;
}

/** What an initdb that was cut off left. */
async function removeUnfinished({ data }: ClusterLocation): Promise<void> {
  const parent = path.dirname(data);
  for (const name of await readdir(parent)) {
    if (name.startsWith('new-')) await rm(path.join(parent, name), { recursive: true, force: true });
  }
}

async function createCluster(
  { data, identity }: ClusterLocation,
  { initdb }: PostgresBinaries,
  password: string,
  log: DatabaseLog,
): Promise<void> {
  log.info('creating the embedded PostgreSQL');
  const fresh = path.join(path.dirname(data), `new-${randomBytes(6).toString('hex')}`);
  const passwordFile = `${fresh}-password`;
  await mkdir(fresh, { mode: 0o700 });
  await writeFile(passwordFile, password, { mode: 0o600 });
  if (identity) {
    for (const one of [fresh, passwordFile]) await chown(one, identity.uid, identity.gid);
  }
  // The built-in locale sorts by code point on every machine, whatever locales it has.
  const locale = ['--encoding=UTF8', '--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--locale=C'];
  const user = [`--username=${SUPERUSER}`, `--pwfile=${passwordFile}`, '--auth=scram-sha-256'];
  try {
    await promisify(execFile)(initdb, [`--pgdata=${fresh}`, ...user, ...locale], {
      ...identity,
      cwd: '/',
      env: {},
    });
    await rename(fresh, data);
  } catch (error) {
    const { stderr = '' } = error as { stderr?: string };
    throw new Error(`initdb failed: ${stderr.trim() || String(error)}`, { cause: error });
  } finally {
    await rm(passwordFile, { force: true });
  }
}

/** A socket file where its path fits into 107 bytes (it is quicker, and nobody else's), else loopback. */
async function chooseListener({ run }: ClusterLocation): Promise<Listener> {
  if (process.platform !== 'win32' && Buffer.byteLength(`${run}/.s.PGSQL.5432`) < 100) {
    return {
      host: run,
      port: 5432,
      settings: ['listen_addresses=', `unix_socket_directories=${run}`, 'unix_socket_permissions=0700'],
    };
  }
  const port = await freePort();
  return { host: '127.0.0.1', port, settings: ['listen_addresses=127.0.0.1', 'unix_socket_directories='] };
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });
}

async function startPostmaster(
  location: ClusterLocation,
  { postgres }: PostgresBinaries,
  listener: Listener,
  password: string,
  log: DatabaseLog,
): Promise<ChildProcess> {
  const settings = [
    ...listener.settings,
    // Errors of statements reach their caller; here their details could show what users stored.
    'log_min_messages=log',
    'log_checkpoints=off',
    'timezone=UTC',
    'log_timezone=UTC',
    // Short statements gain nothing from it.
    'jit=off',
  ];
  const options = [
    '-D',
    location.data,
    '-p',
    String(listener.port),
    ...settings.flatMap((setting) => ['-c', setting]),
  ];
  for (const until = Date.now() + START_MILLIS; ; await delay(250)) {
    // A process group of its own: Ctrl-C in a terminal is for the server, which then stops PostgreSQL in its turn.
    const child = spawn(postgres, options, {
      ...location.identity,
      cwd: '/',
      env: {},
      detached: true,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const said = followLog(child, log);
    const failure = await untilReady(child, databaseUrl(password, listener, 'postgres'), until);
    if (failure === undefined) return child;
    await endChild(child, new Promise((resolve) => child.once('exit', () => resolve())));
    if (STILL_ENDING.test(said.join('\n')) && Date.now() < until) continue;
    throw new Error(`the embedded PostgreSQL does not start: ${failure}: ${said.join(' | ')}`);
  }
}

/** Its last lines, for an error at the start. */
function followLog(child: ChildProcess, log: DatabaseLog): string[] {
  const said: string[] = [];
  if (!child.stderr) return said;
  createInterface({ input: child.stderr }).on('line', (line) => {
    said.push(line);
    if (said.length > 10) said.shift();
    if (/\bPANIC: /.test(line)) log.error(`PostgreSQL: ${line}`);
    else log.debug(`PostgreSQL: ${line}`);
  });
  return said;
}

/** Returns why it did not get ready, or undefined. */
async function untilReady(child: ChildProcess, url: string, until: number): Promise<string | undefined> {
  const exit = new Promise<string>((resolve) => {
    child.once('exit', (code, signal) => resolve(`it ended with ${code ?? signal}`));
    child.once('error', (error) => resolve(error.message));
  });
  for (;;) {
    const answer = await Promise.race([exit, connects(url)]);
    if (answer === true) return undefined;
    if (typeof answer === 'string') return answer;
    if (Date.now() > until) return 'it takes no connections';
    await delay(15);
  }
}

async function connects(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 });
  try {
    await client.connect();
    await client.end();
    return true;
  } catch (error) {
    // 28…: it answers, but not to us, and never will.
    if (error instanceof pg.DatabaseError && error.code?.startsWith('28')) throw error;
    return false;
  }
}

async function createDatabase(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rowCount } = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [DATABASE]);
    if (rowCount === 0) await client.query(`CREATE DATABASE ${DATABASE}`);
  } finally {
    await client.end();
  }
}

async function exists(file: string): Promise<boolean> {
  try {
    await stat(file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}
