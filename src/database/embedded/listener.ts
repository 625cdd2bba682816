import { createServer } from 'node:net';
import type { ClusterLocation } from './cluster-location.js';
import { SUPERUSER } from './create-cluster.js';

/** Where PostgreSQL takes connections. */
export interface Listener {
  /** A host, or the absolute path of the folder with the socket. */
  readonly host: string;
  readonly port: number;
  /** Settings that make PostgreSQL listen there. */
  readonly settings: readonly string[];
}

/** `sun_path` holds 108 bytes on Linux and 104 elsewhere, the closing NUL included. */
const LONGEST_SOCKET_PATH = 103;

/** A socket file where its path is short enough (it is quicker, and nobody else's), else a free port of loopback. */
export async function chooseListener({ run }: ClusterLocation): Promise<Listener> {
  const socket = `${run}/.s.PGSQL.5432`;
  if (process.platform !== 'win32' && Buffer.byteLength(socket) <= LONGEST_SOCKET_PATH) {
    const settings = ['listen_addresses=', `unix_socket_directories=${run}`, 'unix_socket_permissions=0700'];
    return { host: run, port: 5432, settings };
  }
  const settings = ['listen_addresses=127.0.0.1', 'unix_socket_directories='];
  return { host: '127.0.0.1', port: await freePort(), settings };
}

/** In the form that libpq, psql and `pg` understand. Holds the password. */
export function databaseUrl(password: string, { host, port }: Listener, database: string): string {
  const url = new URL(`postgresql://localhost:${port}/${database}`);
  url.username = SUPERUSER;
  url.password = password;
  if (host.startsWith('/')) url.searchParams.set('host', host);
  else url.hostname = host;
  return url.href;
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      const port = typeof address === 'object' && address ? address.port : 0;
      server.close(() => resolve(port));
    });
  });
}
