import { setTimeout as delay } from 'node:timers/promises';
import { TestServer, type TestServerOptions } from '../test-server.js';

const PATIENCE_MILLIS = 120_000;

/** One server on one data folder, killed and started again: what asks it waits for the next life. */
export class ServerLives {
  /** 1 for the first. Rises when the next one is about to start: what the dead one has done came before. */
  life = 0;
  #server: TestServer | null = null;
  #listeners: (() => void)[] = [];

  constructor(
    private readonly options: TestServerOptions & { readonly dataDir: string },
    private readonly onLife: (life: number) => void = () => undefined,
  ) {}

  get server(): TestServer {
    if (!this.#server) throw new Error('no server runs');
    return this.#server;
  }

  async start(): Promise<TestServer> {
    this.life += 1;
    this.onLife(this.life);
    this.#server = await TestServer.start(this.options);
    for (const tell of this.#listeners.splice(0)) tell();
    return this.#server;
  }

  async kill9(): Promise<void> {
    const { server } = this;
    this.#server = null;
    await server.kill9();
    await server.forget();
  }

  async stop(): Promise<void> {
    const { server } = this;
    this.#server = null;
    await server.stop();
  }

  /** The server that runs, or the next one. */
  async up(): Promise<TestServer> {
    while (!this.#server) await new Promise<void>((resolve) => this.#listeners.push(resolve));
    return this.#server;
  }

  /**
   * Asks until some life answers, as a client that was told to. `lost` counts the requests that got no answer, so
   * that nobody knows whether they were carried out.
   */
  async request(
    method: string,
    target: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<{ status: number; data: unknown; text: string; lost: number }> {
    const until = Date.now() + PATIENCE_MILLIS;
    for (let lost = 0; ; lost += 1) {
      const server = await this.up();
      try {
        const response = await server.request(method, target, body, headers);
        const text = await response.text();
        // 503: it is stopping, or its database is just being started again.
        if (response.status !== 503) {
          return { status: response.status, data: dataIn(text), text, lost };
        }
      } catch (error) {
        if (!isConnectionLost(error)) throw error;
      }
      if (Date.now() > until) throw new Error(`${method} ${target} was never answered`);
      await delay(20);
    }
  }
}

/** What fetch throws where a server dies. By its name: jest's own TypeError is another one than fetch's. */
export function isConnectionLost(error: unknown): boolean {
  return (error as { name?: unknown } | null)?.name === 'TypeError';
}

function dataIn(text: string): unknown {
  return text.startsWith('{') ? (JSON.parse(text) as { data: unknown }).data : null;
}
