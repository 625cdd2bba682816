import { stat, unlink } from 'node:fs/promises';
import { createConnection, createServer, type Server } from 'node:net';
import path from 'node:path';

/** Thrown when another server process uses the data folder. */
export class DataFolderInUseError extends Error {
  constructor(readonly directory: string) {
    super(`the data folder ${directory} is in use by another server`);
    this.name = 'DataFolderInUseError';
  }
}

/** `sun_path` holds 108 bytes on Linux and 104 on BSD and macOS, the closing NUL included. */
const LONGEST_SOCKET_PATH = 103;

/**
 * Says which process owns a data folder (decision 46). The lock is a pair of listening sockets, so it dies with the
 * process, however it ends, and a process id that somebody else got meanwhile is never mistaken for it:
 * - an abstract socket named after the folder's device and inode, which the kernel hands out to one process;
 * - a socket file in the folder, which also processes in other network namespaces (containers that share a volume)
 *   can reach. What a killed process leaves of it refuses connections and is replaced; the abstract socket keeps
 *   two starts from doing so at once.
 */
export class DataFolderLock {
  private constructor(private readonly servers: readonly Server[]) {}

  /** The folder must exist. Throws DataFolderInUseError. */
  static async acquire(directory: string): Promise<DataFolderLock> {
    const { dev, ino } = await stat(directory, { bigint: true });
    const servers: Server[] = [];
    try {
      if (process.platform === 'linux') {
        servers.push(await listen(`\0agent-management/${dev}/${ino}`, directory));
      }
      const file = socketFile(directory);
      if (file === undefined) return new DataFolderLock(servers);
      const server = await listenOnFile(file, directory);
      return new DataFolderLock(server ? [...servers, server] : servers);
    } catch (error) {
      await Promise.all(servers.map(close));
      throw error;
    }
  }

  async release(): Promise<void> {
    // Node unlinks the socket file when it closes its server.
    await Promise.all(this.servers.map(close));
  }
}

/** undefined where the path is too long for a socket; then the abstract socket alone must do. */
function socketFile(directory: string): string | undefined {
  const absolute = path.join(directory, 'server.lock');
  const relative = path.relative(process.cwd(), absolute);
  const shortest = Buffer.byteLength(relative) < Buffer.byteLength(absolute) ? relative : absolute;
  if (Buffer.byteLength(shortest) <= LONGEST_SOCKET_PATH) return shortest;
  if (process.platform === 'linux') return undefined;
  throw new Error(`the path of the data folder ${directory} is too long for its lock, ${shortest}`);
}

/** File systems of some virtual machines hold no sockets; null: the abstract socket alone must do. */
async function listenOnFile(file: string, directory: string): Promise<Server | null> {
  try {
    return await listen(file, directory);
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (process.platform === 'linux' && ['ENOTSUP', 'EOPNOTSUPP', 'EPERM'].includes(code)) return null;
    if (!(error instanceof DataFolderInUseError) || (await answers(file))) throw error;
    await unlink(file);
    return listen(file, directory);
  }
}

function listen(address: string, directory: string): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy());
    server.once('error', (error: NodeJS.ErrnoException) => {
      reject(error.code === 'EADDRINUSE' ? new DataFolderInUseError(directory) : error);
    });
    server.listen(address, () => {
      server.unref();
      resolve(server);
    });
  });
}

function answers(file: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection(file);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    // ECONNREFUSED: nobody listens any more. Anything else is not proof enough to take the folder.
    socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code !== 'ECONNREFUSED'));
  });
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
  });
}
