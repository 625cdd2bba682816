import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chown, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import type { ClusterLocation } from './cluster-location.js';
import type { DatabaseLog } from './database-log.js';
import type { PostgresBinaries } from './postgres-binaries.js';
import { statIfPresent } from './run-identity.js';

export const SUPERUSER = 'postgres';

/** The cluster's password: made at the first start, kept in the data folder, readable by the server's user only. */
export async function readPassword({ home, data }: ClusterLocation): Promise<string> {
  const file = path.join(home, 'password');
  try {
    return (await readFile(file, 'utf8')).trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    if (await isCluster(data)) {
      throw new Error(`the password of the embedded PostgreSQL is missing: ${file}`, { cause: error });
    }
  }
  const password = randomBytes(24).toString('hex');
  await writeFile(file, `${password}\n`, { mode: 0o600, flag: 'wx' });
  return password;
}

/** initdb, beside the cluster's place first: one that was cut off is never taken for a whole one. */
export async function createClusterOnce(
  { data, identity }: ClusterLocation,
  { initdb }: PostgresBinaries,
  password: string,
  log: DatabaseLog,
): Promise<void> {
  await removeUnfinished(path.dirname(data));
  if (await isCluster(data)) return;
  log.info('creating the embedded PostgreSQL');
  const fresh = path.join(path.dirname(data), `new-${randomBytes(6).toString('hex')}`);
  const passwordFile = `${fresh}-password`;
  await mkdir(fresh, { mode: 0o700 });
  await writeFile(passwordFile, password, { mode: 0o600 });
  if (identity) {
    for (const one of [fresh, passwordFile]) await chown(one, identity.uid, identity.gid);
  }
  const user = [`--username=${SUPERUSER}`, `--pwfile=${passwordFile}`, '--auth=scram-sha-256'];
  // The built-in locale sorts by code point on every machine, whatever locales it has.
  const locale = ['--encoding=UTF8', '--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--locale=C'];
  const options = [`--pgdata=${fresh}`, ...user, ...locale];
  try {
    await promisify(execFile)(initdb, options, { ...identity, cwd: '/', env: {} });
    await rename(fresh, data);
  } catch (error) {
    const { stderr = '' } = error as { stderr?: string };
    throw new Error(`initdb failed: ${stderr.trim() || String(error)}`, { cause: error });
  } finally {
    await rm(passwordFile, { force: true });
  }
}

async function removeUnfinished(parent: string): Promise<void> {
  for (const name of await readdir(parent)) {
    if (name.startsWith('new-')) await rm(path.join(parent, name), { recursive: true, force: true });
  }
}

async function isCluster(data: string): Promise<boolean> {
  return (await statIfPresent(path.join(data, 'PG_VERSION'))) !== undefined;
}
