import { readdir, lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { defineTool, type BridgeTool } from './bridge-tool.js';
import type { Workspace } from './workspace.js';
import { workspacePath } from './workspace-path.js';

const MAX_ENTRIES = 1000;

interface Entry {
  path: string;
  type: 'file' | 'folder';
  bytes?: number;
}

/** Lists a folder with everything below it, in the order of paths; symbolic links are left out. */
export function listFilesTool(workspace: () => Promise<Workspace>): BridgeTool {
  return defineTool({
    name: 'list_files',
    description:
      'Lists the files and folders of the workspace below a folder, with sizes in bytes. Paths are relative to the workspace.',
    parameters: z.object({
      path: z.string().default('').describe('Folder relative to the workspace; empty for all of it'),
    }),
    async execute({ path }, signal) {
      const folder = await (await workspace()).directory(path);
      const entries: Entry[] = [];
      const truncated = await collect(folder, workspacePath(path).join('/'), entries, signal);
      return truncated ? { entries, truncated: true } : { entries };
    },
  });
}

/** Depth first without recursion; true when there is more than fits. */
async function collect(folder: string, path: string, into: Entry[], signal: AbortSignal): Promise<boolean> {
  const waiting: { folder: string; path: string; name: string }[] = [];
  const push = async (parent: string, prefix: string): Promise<void> => {
    const names = (await readdir(parent)).sort().reverse();
    for (const name of names) {
      waiting.push({ folder: parent, path: prefix === '' ? name : `${prefix}/${name}`, name });
    }
  };
  await push(folder, path);
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    signal.throwIfAborted();
    const absolute = join(next.folder, next.name);
    const stat = await lstat(absolute).catch(() => null);
    // Gone since it was listed, or a link: nothing that these tools could open.
    if (!stat || !(stat.isFile() || stat.isDirectory())) continue;
    if (into.length >= MAX_ENTRIES) return true;
    if (stat.isDirectory()) {
      into.push({ path: next.path, type: 'folder' });
      await push(absolute, next.path);
    } else {
      into.push({ path: next.path, type: 'file', bytes: stat.size });
    }
  }
  return false;
}
