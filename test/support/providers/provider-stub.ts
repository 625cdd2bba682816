import { once } from 'node:events';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { json, perform, type Play } from './play.js';

export interface ReceivedRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  /** As JSON; null where there is none. */
  readonly body: Record<string, unknown> | null;
  readonly response: ServerResponse;
}

/**
 * A server that speaks a provider's protocol as facts tell it. By itself it behaves well; what it does to the next
 * posts of a command, a test puts into `next`. It counts those posts: that is how double sending is seen.
 */
export abstract class ProviderStub {
  readonly requests: ReceivedRequest[] = [];
  /** The value that requests must carry; null where the provider knows no authentication. */
  abstract readonly key: string | null;
  #server: Server | null = null;
  #plays: Play[] = [];

  /** Answers the next posts of a command, one each; after them the stub behaves well again. */
  next(...plays: Play[]): void {
    this.#plays.push(...plays);
  }

  /** How many posts carried a command, whatever became of them. */
  get posts(): number {
    return this.commands.length;
  }

  get commands(): ReceivedRequest[] {
    return this.requests.filter((request) => this.isCommand(request));
  }

  get origin(): string {
    return `http://127.0.0.1:${String((this.#server?.address() as AddressInfo).port)}`;
  }

  /** What a credential's `baseUrl` is for this provider. */
  abstract get baseUrl(): string;

  async start(): Promise<this> {
    this.#server = createServer((incoming, response) => {
      void this.#serve(incoming, response);
    });
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return this;
  }

  async close(): Promise<void> {
    this.#server?.closeAllConnections();
    this.#server?.close();
    if (this.#server) await once(this.#server, 'close');
  }

  /** Forgets requests and plays, so that tests do not see each other. */
  reset(): void {
    this.requests.length = 0;
    this.#plays = [];
  }

  protected abstract isCommand(request: ReceivedRequest): boolean;
  /** How it answers when it behaves well. */
  protected abstract answer(request: ReceivedRequest): Play | Promise<Play>;
  protected abstract unauthorized(): Play;

  async #serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const chunks: Buffer[] = [];
      for await (const chunk of incoming) chunks.push(chunk as Buffer);
      const url = new URL(incoming.url ?? '/', this.origin);
      const text = Buffer.concat(chunks).toString('utf8');
      const request: ReceivedRequest = {
        method: incoming.method ?? '',
        path: url.pathname,
        query: url.searchParams,
        headers: incoming.headers,
        body: text === '' ? null : (JSON.parse(text) as Record<string, unknown>),
        response,
      };
      this.requests.push(request);
      await perform(await this.#playFor(request), response);
    } catch (error) {
      if (response.headersSent) response.destroy();
      else await perform(json(500, { message: `the stub failed: ${String(error)}` }), response);
    }
  }

  async #playFor(request: ReceivedRequest): Promise<Play> {
    const play = this.isCommand(request) ? this.#plays.shift() : undefined;
    if (play) return play;
    const isKnown = this.key === null || request.headers.authorization === `Bearer ${this.key}`;
    return isKnown ? this.answer(request) : this.unauthorized();
  }
}
