import { readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { endLeftoverPostmaster } from './leftover-postmaster.js';
import { statIfPresent } from './run-identity.js';

/** In a cluster outside its data folder: the path of the folder it belongs to. */
export const BELONGS_TO = 'belongs-to';

/**
 * Removes clusters of data folders that lay in a folder for temporary files and are gone: demonstrations and tests.
 * A folder elsewhere may only be unmounted, so its cluster is never touched.
 */
export async function removeAbandonedClusters(
  systemDirectory: string,
  temporaryFolders: readonly string[] = ['/tmp', '/var/tmp', tmpdir()],
): Promise<void> {
  if (!(await statIfPresent(systemDirectory))) return;
  for (const name of await readdir(systemDirectory)) {
    const place = path.join(systemDirectory, name);
    const owner = path.join(place, BELONGS_TO);
    if (!(await statIfPresent(owner))) continue;
    const home = (await readFile(owner, 'utf8')).trim();
    const isTemporary = temporaryFolders.some((folder) => home.startsWith(`${folder}/`));
    if (!isTemporary || (await statIfPresent(home))) continue;
    await endLeftoverPostmaster(path.join(place, 'data'), () => undefined);
    await rm(place, { recursive: true, force: true });
  }
}
