import { randomUUID } from 'node:crypto';
import { statSync } from 'node:fs';
import { mkdir, opendir, lstat, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { errorCode } from '../../common/errors/error-code.js';

/** A file of a workspace: its path relative to the root, with `/`, in UTF-8. */
export interface WorkspaceFile {
  path: string;
  bytes: number;
  modifiedAt: Date;
}

/** How much a workspace holds. */
export interface WorkspaceUsage {
  fileCount: number;
  totalBytes: number;
}

/** Folders of the workspaces' root that belong to no run; no run id begins with a dot. */
const STAGING = '.staging';
const TRASH = '.trash';

/**
 * The folders of the runs: `{root}/{runId}`, where uploads lie and agents read and write. Symbolic links are
 * never followed: they are neither listed nor zipped.
 */
export class Workspaces {
  readonly root: string;

  constructor(root: string) {
    this.root = path.resolve(root);
  }

  directory(runId: string): string {
    // Run ids come out of URLs before the database has seen them.
    if (!/^[a-z0-9][a-z0-9_-]*$/.test(runId)) throw new Error('not a run id');
    return path.join(this.root, runId);
  }

  /** Makes the folder; one that is there stays as it is. */
  async create(runId: string): Promise<string> {
    const directory = this.directory(runId);
    await mkdir(directory, { recursive: true });
    return directory;
  }

  /** A new empty folder on the same file system, for files that arrive before their run exists. */
  async stage(): Promise<string> {
    const directory = path.join(this.root, STAGING, randomUUID());
    await mkdir(directory, { recursive: true });
    return directory;
  }

  /** Makes a staged folder the run's workspace, in one step. */
  async adopt(runId: string, staged: string): Promise<void> {
    await rename(staged, this.directory(runId));
  }

  /** Every regular file, sorted by path. An absent workspace has none. */
  async listFiles(runId: string): Promise<WorkspaceFile[]> {
    const directory = this.directory(runId);
    // Most runs have none. To ask for one name takes microseconds; to hand that to a thread takes many times as long.
    if (!statSync(directory, { throwIfNoEntry: false })) return [];
    const files = await walk(directory, '');
    return files.sort((a, b) => (a.path < b.path ? -1 : 1));
  }

  async usage(runId: string): Promise<WorkspaceUsage> {
    const files = await walk(this.directory(runId), '');
    return { fileCount: files.length, totalBytes: files.reduce((sum, { bytes }) => sum + bytes, 0) };
  }

  /** Removes the workspace. It vanishes in one step, then its files are deleted. */
  async remove(runId: string): Promise<void> {
    const doomed = await this.discard(runId);
    if (doomed) await rm(doomed, { recursive: true, force: true });
  }

  /** Moves the workspace to the trash, which `emptyTrash` deletes; null when there is none. */
  async discard(runId: string): Promise<string | null> {
    const doomed = path.join(this.root, TRASH, `${runId}.${randomUUID()}`);
    await mkdir(path.dirname(doomed), { recursive: true });
    try {
      await rename(this.directory(runId), doomed);
      return doomed;
    } catch (error) {
      if (errorCode(error) === 'ENOENT') return null;
      throw error;
    }
  }

  async emptyTrash(): Promise<void> {
    const trash = path.join(this.root, TRASH);
    // The folder itself stays: somebody may be about to move a workspace into it.
    await mkdir(trash, { recursive: true });
    for await (const { name } of await opendir(trash)) {
      await rm(path.join(trash, name), { recursive: true, force: true });
    }
  }

  /** Ids of the runs that have a folder. */
  async *runIds(): AsyncIterable<string> {
    for await (const entry of await opendir(this.root)) {
      if (entry.isDirectory() && !entry.name.startsWith('.')) yield entry.name;
    }
  }

  /** Removes staged folders older than `maxAgeMs`: what uploads left that a crash cut off. */
  async removeStale(maxAgeMs: number): Promise<void> {
    const staging = path.join(this.root, STAGING);
    await mkdir(staging, { recursive: true });
    for await (const entry of await opendir(staging)) {
      const directory = path.join(staging, entry.name);
      const { mtimeMs } = await lstat(directory);
      if (Date.now() - mtimeMs > maxAgeMs) await rm(directory, { recursive: true, force: true });
    }
  }
}

async function walk(root: string, below: string): Promise<WorkspaceFile[]> {
  const files: WorkspaceFile[] = [];
  try {
    for await (const entry of await opendir(path.join(root, below))) {
      const relative = below ? `${below}/${entry.name}` : entry.name;
      if (entry.isDirectory()) {
        files.push(...(await walk(root, relative)));
      } else if (entry.isFile()) {
        const { size, mtime } = await lstat(path.join(root, relative));
        files.push({ path: relative, bytes: size, modifiedAt: mtime });
      }
    }
  } catch (error) {
    // Agents delete files while a run goes on; what has gone is not listed.
    if (errorCode(error) !== 'ENOENT') throw error;
  }
  return files;
}
