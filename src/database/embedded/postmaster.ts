import { spawn, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import type { ClusterLocation } from './cluster-location.js';
import type { DatabaseLog } from './database-log.js';
import { databaseUrl, type Listener } from './listener.js';
import type { PostgresBinaries } from './postgres-binaries.js';

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

const SETTINGS = [
  // Errors of statements reach their caller; here their details could show what users stored.
  'log_min_messages=log',
  'log_checkpoints=off',
  'timezone=UTC',
  'log_timezone=UTC',
  // Short statements gain nothing from it.
  'jit=off',
];

export interface PostmasterOptions {
  readonly location: ClusterLocation;
  readonly binaries: PostgresBinaries;
  readonly listener: Listener;
  readonly password: string;
  readonly log: DatabaseLog;
}

/** Starts PostgreSQL and waits until it takes connections. A start that fails leaves no process. */
export async function startPostmaster(options: PostmasterOptions): Promise<ChildProcess> {
  const { location, binaries, listener, password, log } = options;
  const settings = [...listener.settings, ...SETTINGS].flatMap((setting) => ['-c', setting]);
  const args = ['-D', location.data, '-p', String(listener.port), ...settings];
  for (const until = Date.now() + START_MILLIS; ; await delay(250)) {
    // A process group of its own: Ctrl-C in a terminal is for the server, which then stops PostgreSQL in its turn.
    const child = spawn(binaries.postgres, args, {
      ...location.identity,
      cwd: '/',
      env: {},
      detached: true,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const said = followLog(child, log);
    const failure = await untilReady(child, databaseUrl(password, listener, 'postgres'), until);
    if (failure === undefined) return child;
    await endPostmaster(child);
    if (STILL_ENDING.test(said.join('\n')) && Date.now() < until) continue;
    throw new Error(`the embedded PostgreSQL does not start: ${failure}: ${said.join(' | ')}`);
  }
}

/** Fast shutdown first; harder ways when that takes too long. */
export async function endPostmaster(child: ChildProcess): Promise<void> {
  // It was never there.
  if (child.pid === undefined) return;
  const exited = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
  });
  for (const [signal, millis] of STOP_WAYS) {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill(signal);
    const timer = new AbortController();
    await Promise.race([exited, delay(millis, undefined, { signal: timer.signal }).catch(() => undefined)]);
    timer.abort();
  }
}

export async function createDatabase(url: string, name: string): Promise<void> {
  const client = clientOf(url);
  await client.connect();
  try {
    const { rowCount } = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [name]);
    if (rowCount === 0) await client.query(`CREATE DATABASE ${client.escapeIdentifier(name)}`);
  } finally {
    await client.end();
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

/**
 * Returns why it did not get ready, or undefined. One that ended is told only when its output is over too ('close',
 * not 'exit'): the reason stands in its last lines.
 */
async function untilReady(child: ChildProcess, url: string, until: number): Promise<string | undefined> {
  const ended = new Promise<string>((resolve) => {
    child.once('close', (code, signal) => resolve(`it ended with ${code ?? signal ?? 'nothing'}`));
    child.once('error', (error) => resolve(error.message));
  });
  for (;;) {
    const answer = await Promise.race([ended, connects(url)]);
    if (answer === true) return undefined;
    if (typeof answer === 'string') return answer;
    if (Date.now() > until) return 'it takes no connections';
    await delay(15);
  }
}

/** A string: it answers, but not to us, and never will. */
async function connects(url: string): Promise<boolean | string> {
  const client = clientOf(url);
  try {
    await client.connect();
    await client.end();
    return true;
  } catch (error) {
    // SQLSTATE class 28: authentication.
    return error instanceof pg.DatabaseError && error.code?.startsWith('28') ? error.message : false;
  }
}

function clientOf(url: string): pg.Client {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 });
  // A connection that breaks between two statements tells so by this event, which nobody else hears.
  client.on('error', () => undefined);
  return client;
}
