import type { Stats } from 'node:fs';
import { stat } from 'node:fs/promises';
import path from 'node:path';

/** The user that PostgreSQL runs as; null: the user of this process. */
export type RunIdentity = { readonly uid: number; readonly gid: number } | null;

/** `nobody` on every Linux: an id without rights that exists without creating it. */
const UNPRIVILEGED = { uid: 65_534, gid: 65_534 };

/**
 * PostgreSQL refuses to run as root; then it runs as whoever owns an existing cluster, else as `nobody`.
 * No system user is created.
 */
export async function runIdentity(existingCluster: string): Promise<RunIdentity> {
  if (process.getuid?.() !== 0) return null;
  const owner = await statIfPresent(existingCluster);
  return owner && owner.uid !== 0 ? { uid: owner.uid, gid: owner.gid } : UNPRIVILEGED;
}

/** Whether the identity may enter the directory and everything above it; null may wherever this process may. */
export async function canEnter(directory: string, identity: RunIdentity): Promise<boolean> {
  if (identity === null) return true;
  for (let at = directory; ; at = path.dirname(at)) {
    const { mode, uid, gid } = await stat(at);
    const bit = uid === identity.uid ? 0o100 : gid === identity.gid ? 0o010 : 0o001;
    if ((mode & bit) === 0) return false;
    if (at === path.dirname(at)) return true;
  }
}

/** undefined where there is no such file. */
export async function statIfPresent(file: string): Promise<Stats | undefined> {
  try {
    return await stat(file);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw error;
  }
}
