import { Injectable, type BeforeApplicationShutdown } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { Server } from 'node:http';

/** How long requests that are under way may take to end once the server stops. */
const DRAIN_MILLIS = 3_000;

/**
 * Stops taking connections and lets requests end before anything they need goes away. Open streams have been ended
 * by then (onModuleDestroy of their contexts).
 */
@Injectable()
export class HttpDrain implements BeforeApplicationShutdown {
  constructor(private readonly adapterHost: HttpAdapterHost) {}

  async beforeApplicationShutdown(): Promise<void> {
    const server = this.adapterHost.httpAdapter.getHttpServer() as Server;
    if (!server.listening) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(() => server.closeAllConnections(), DRAIN_MILLIS);
      server.close(() => {
        clearTimeout(timer);
        resolve();
      });
      server.closeIdleConnections();
    });
  }
}
