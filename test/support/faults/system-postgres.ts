import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { chmod, chown, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { PATIENCE_MILLIS } from '../patience.js';

const DEBIAN = '/usr/lib/postgresql';
const OLDEST = 14;
const NOBODY = { uid: 65_534, gid: 65_534 };

export interface SystemPostgres {
  readonly version: number;
  /** Of an empty database. */
  readonly url: string;
  stop(): Promise<void>;
}

/** The newest PostgreSQL that Debian's packages brought, on a folder of its own; null where there is none. */
export async function startSystemPostgres(): Promise<SystemPostgres | null> {
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN).map(Number) : [];
  const version = Math.max(0, ...versions.filter((one) => existsSync(`${DEBIAN}/${one}/bin/initdb`)));
  if (version < OLDEST) return null;
  const directory = await mkdtemp(path.join(tmpdir(), 'system-postgres-'));
  await chmod(directory, 0o711);
  // PostgreSQL refuses to run as root.
  const identity = process.getuid?.() === 0 ? NOBODY : undefined;
  if (identity) await chown(directory, identity.uid, identity.gid);
  const data = path.join(directory, 'data');
  const bin = `${DEBIAN}/${version}/bin`;
  const options = { ...identity, cwd: '/', env: { LC_ALL: 'C.UTF-8' } };
  const made = spawnSync(`${bin}/initdb`, ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8'], {
    ...options,
    encoding: 'utf8',
  });
  if (made.status !== 0) throw new Error(`initdb: ${made.stderr}`);
  const child = spawn(`${bin}/postgres`, ['-D', data, '-k', directory, '-c', 'listen_addresses='], {
    ...options,
    stdio: 'ignore',
  });
  const url = (name: string): string =>
    `postgresql://postgres@localhost/${name}?host=${encodeURIComponent(directory)}`;
  await createDatabase(url('postgres'));
  return {
    version,
    url: url('faults'),
    async stop() {
      const ended = once(child, 'exit');
      child.kill('SIGINT');
      await ended;
      await rm(directory, { recursive: true, force: true });
    },
  };
}

async function createDatabase(url: string): Promise<void> {
  for (const until = Date.now() + PATIENCE_MILLIS; ; await delay(50)) {
    const client = new pg.Client({ connectionString: url });
    try {
      await client.connect();
    } catch (error) {
      if (Date.now() > until) throw error;
      continue;
    }
    await client.query('CREATE DATABASE faults');
    await client.end();
    return;
  }
}
