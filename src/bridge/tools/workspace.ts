import { constants } from 'node:fs';
import { lstat, mkdir, open, realpath, type FileHandle } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { ToolError } from './bridge-tool.js';
import { workspacePath } from './workspace-path.js';

const { O_CREAT, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY } = constants;

/**
 * A run's folder, the only one the file tools see. Symbolic links are never followed: each folder on the way is
 * looked at without following it, the file is opened with O_NOFOLLOW, and what was opened is checked once more,
 * so that a folder swapped for a link in between leads nowhere.
 */
export class Workspace {
  readonly #root: string;

  private constructor(root: string) {
    this.#root = root;
  }

  /** Makes the folder where no upload has made it yet. Throws ToolError when it cannot be had. */
  static async at(directory: string): Promise<Workspace> {
    try {
      await mkdir(directory, { recursive: true });
      return new Workspace(await realpath(directory));
    } catch (error) {
      throw new ToolError(`the workspace cannot be opened (${errorCode(error) ?? 'unknown reason'})`);
    }
  }

  /** The absolute path of an existing folder. */
  async directory(path: string): Promise<string> {
    return this.#descend(workspacePath(path), path, { create: false });
  }

  async openToRead(path: string): Promise<FileHandle> {
    // Non-blocking: opening a named pipe would otherwise wait for its writer for ever.
    return this.#open(path, O_RDONLY | O_NONBLOCK, { create: false });
  }

  /** Opens for writing without truncating: what lies there is only touched once it is known to be inside. */
  async openToWrite(path: string): Promise<FileHandle> {
    return this.#open(path, O_WRONLY | O_CREAT | O_NONBLOCK, { create: true });
  }

  async #open(path: string, flags: number, options: { create: boolean }): Promise<FileHandle> {
    const components = workspacePath(path);
    const name = components.pop();
    if (name === undefined) throw new ToolError('path names no file');
    const parent = await this.#descend(components, path, options);
    const handle = await open(join(parent, name), flags | O_NOFOLLOW, 0o644).catch((error: unknown) => {
      throw fileError(error, path);
    });
    try {
      if (!(await handle.stat()).isFile()) throw new ToolError(`${path} is not a file`);
      await this.#confirmInside(handle, parent);
    } catch (error) {
      await handle.close();
      throw error;
    }
    return handle;
  }

  async #descend(components: string[], path: string, { create }: { create: boolean }): Promise<string> {
    let folder = this.#root;
    for (const component of components) {
      folder = join(folder, component);
      if (create) {
        await mkdir(folder).catch((error: unknown) => {
          if (errorCode(error) !== 'EEXIST') throw fileError(error, path);
        });
      }
      const stat = await lstat(folder).catch((error: unknown) => {
        throw fileError(error, path);
      });
      if (stat.isSymbolicLink()) throw new ToolError(`${path} leads through a symbolic link`);
      if (!stat.isDirectory()) throw new ToolError(`${path}: ${component} is not a folder`);
    }
    return folder;
  }

  async #confirmInside(handle: FileHandle, parent: string): Promise<void> {
    // Linux tells where an open file really lies; elsewhere the folder's own real path has to do.
    const real = await realpath(`/proc/self/fd/${handle.fd}`).catch(() => realpath(parent));
    if (real !== this.#root && !real.startsWith(this.#root + sep)) {
      throw new ToolError('path leads out of the workspace');
    }
  }
}

function errorCode(error: unknown): string | undefined {
  const { code } = error as NodeJS.ErrnoException;
  return code;
}

/** Says what went wrong without the absolute path that Node puts into its message. */
function fileError(error: unknown, path: string): ToolError {
  const code = errorCode(error);
  switch (code) {
    case 'ENOENT':
      return new ToolError(`${path} does not exist`);
    case 'ELOOP':
    case 'EMLINK':
      return new ToolError(`${path} is a symbolic link`);
    case 'EISDIR':
      return new ToolError(`${path} is a folder`);
    case 'ENOTDIR':
      return new ToolError(`${path}: a file is where a folder is needed`);
    case 'ENXIO':
      return new ToolError(`${path} is not a file`);
    case 'ENOSPC':
      return new ToolError('no space is left');
    default:
      return new ToolError(`${path} cannot be opened (${code ?? 'unknown reason'})`);
  }
}
