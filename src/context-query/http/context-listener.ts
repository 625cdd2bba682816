import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { guardServer } from '../../common/http/index.js';
import type { ContextGate } from './context-gate.js';

/** Serves the endpoints on a loopback port of their own (`hermes.context-query.listen`). */
export class ContextListener {
  #server: Server | null = null;

  /** `host` and `port` as `parseListen` gives them; port 0 picks a free one. */
  constructor(
    private readonly address: { host: string; port: number },
    private readonly gate: ContextGate,
  ) {}

  /** `http://host:port`; null while it does not listen. */
  baseUrl(): string | null {
    const bound = this.#server?.address() as AddressInfo | null | undefined;
    if (!bound) return null;
    return `http://${bound.family === 'IPv6' ? `[${bound.address}]` : bound.address}:${bound.port}`;
  }

  /** Rejects when the port is taken. `handle` is the whole application; the gate keeps it to the endpoints. */
  async listen(handle: RequestListener): Promise<void> {
    const server = createServer((request, response) => {
      this.gate.markOwnListener(request);
      handle(request, response);
    });
    guardServer(server);
    await new Promise<void>((resolve, reject) => {
      server.once('error', (error) => {
        const { host, port } = this.address;
        const message = `hermes.context-query.listen: cannot listen on ${host}:${port}`;
        reject(new Error(message, { cause: error }));
      });
      server.listen(this.address.port, this.address.host, resolve);
    });
    this.#server = server;
  }

  async close(): Promise<void> {
    const server = this.#server;
    if (!server) return;
    this.#server = null;
    await new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  }
}
