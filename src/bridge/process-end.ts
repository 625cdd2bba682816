import type { Server } from 'node:http';

/** How long a bridge that was told to stop waits for its parent to close the pipe, or for its last answers. */
const GRACE_MILLIS = 5_000;

/**
 * Exits as soon as standard input closes. The parent holds the other end, so this happens however it dies,
 * `kill -9` included.
 */
export function exitWithParent(): void {
  process.stdin.on('end', () => process.exit(0));
  process.stdin.on('close', () => process.exit(0));
  process.stdin.on('error', () => process.exit(0));
  process.stdin.resume();
}

/**
 * Ends on SIGTERM and SIGINT. A bridge with a parent does not hurry: signals to a whole process group reach it
 * together with its parent, which wants to end its runs in order first and then closes the pipe.
 */
export function stopOnSignals(server: Server, { hasParent }: { hasParent: boolean }): void {
  const stop = (): void => {
    if (!hasParent) {
      server.close();
      server.closeIdleConnections();
    }
    setTimeout(() => process.exit(0), GRACE_MILLIS).unref();
  };
  process.once('SIGTERM', stop);
  process.on('SIGINT', hasParent ? (): void => undefined : stop);
}
