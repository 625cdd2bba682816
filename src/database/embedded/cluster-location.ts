import { randomBytes } from 'node:crypto';
import { chmod, chown, lchown, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { BELONGS_TO, removeAbandonedClusters } from './abandoned-clusters.js';
import { canEnter, runIdentity, statIfPresent, type RunIdentity } from './run-identity.js';

/** Where root keeps clusters and binaries that PostgreSQL's user cannot reach elsewhere (decision 46). */
export const SYSTEM_DIRECTORY = '/var/lib/agent-management';

export interface ClusterLocation {
  /** Belongs to this server: password file and pointer. */
  readonly home: string;
  /** PGDATA; does not exist before the first start. */
  readonly data: string;
  /** For the socket; belongs to `identity`. */
  readonly run: string;
  /** Where copies of the binaries go, if they have to. */
  readonly copies: string;
  readonly identity: RunIdentity;
}

/**
 * `dataDir/postgres` where PostgreSQL's user can get there; else a folder below SYSTEM_DIRECTORY, which
 * `dataDir/postgres/location` names. Creates the folders around the cluster.
 */
export async function locateCluster(
  dataDir: string,
  systemDirectory = SYSTEM_DIRECTORY,
): Promise<ClusterLocation> {
  const home = path.join(dataDir, 'postgres');
  await makeDirectory(home);
  const pointer = path.join(home, 'location');
  const pointed = await readIfPresent(pointer);
  const identity = await runIdentity(path.join(pointed ?? home, 'data'));
  const place = pointed ?? (await choosePlace(home, pointer, identity, systemDirectory));
  await requireDirectory(place, dataDir);
  const run = path.join(place, 'run');
  await mkdir(run, { recursive: true, mode: 0o700 });
  if (identity) await chown(run, identity.uid, identity.gid);
  const data = path.join(place, 'data');
  if (identity) await giveAway(data, identity);
  const copies = process.getuid?.() === 0 ? systemDirectory : path.join(home, 'binaries');
  return { home, data, run, copies, identity };
}

async function choosePlace(
  home: string,
  pointer: string,
  identity: RunIdentity,
  systemDirectory: string,
): Promise<string> {
  if (await canEnter(home, identity)) return home;
  if ((await readdir(home)).includes('data')) {
    const who = `user id ${identity?.uid}`;
    throw new Error(
      `PostgreSQL runs as ${who}, which may not enter ${home}; let it pass (chmod o+x) up to there`,
    );
  }
  const place = path.join(systemDirectory, randomBytes(8).toString('hex'));
  await removeAbandonedClusters(systemDirectory);
  await mkdir(systemDirectory, { recursive: true, mode: 0o755 });
  await mkdir(place, { mode: 0o711 });
  await chmod(place, 0o711);
  await writeFile(path.join(place, BELONGS_TO), `${home}\n`, { mode: 0o600 });
  await writeFile(pointer, `${place}\n`, { mode: 0o600 });
  return place;
}

/** Folders that are missing are made so that PostgreSQL's user may pass, but see nothing. */
export async function makeDirectory(directory: string): Promise<void> {
  const first = await mkdir(directory, { recursive: true });
  if (first === undefined) return;
  for (let at = directory; at.length >= first.length; at = path.dirname(at)) await chmod(at, 0o711);
}

async function requireDirectory(place: string, dataDir: string): Promise<void> {
  const found = await statIfPresent(place);
  if (found?.isDirectory()) return;
  throw new Error(`the database of the data folder ${dataDir} lies in ${place}, which is not there`);
}

async function readIfPresent(file: string): Promise<string | undefined> {
  try {
    return (await readFile(file, 'utf8')).trim() || undefined;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** A cluster that root copied here belongs to root, which PostgreSQL refuses. */
async function giveAway(directory: string, { uid, gid }: { uid: number; gid: number }): Promise<void> {
  const owner = await statIfPresent(directory);
  if (!owner || owner.uid === uid) return;
  for (const entry of await readdir(directory, { recursive: true }))
    await lchown(path.join(directory, entry), uid, gid);
  await chown(directory, uid, gid);
}
