import { TestServer, type TestServerOptions } from '../test-server.js';
import { Servers } from './servers.js';

/** One server on one data folder, ended in any way and started again. */
export class ServerLives extends Servers {
  /** 1 for the first. */
  life = 0;
  #server: TestServer | null = null;
  #listeners: (() => void)[] = [];

  constructor(
    private readonly options: TestServerOptions & { readonly dataDir: string },
    private readonly onLife: (life: number) => void = () => undefined,
  ) {
    super();
  }

  get server(): TestServer {
    if (!this.#server) throw new Error('no server runs');
    return this.#server;
  }

  /** What comes from now on counts as a life of its own, such as that of a part of the server. */
  mark(): void {
    this.life += 1;
    this.onLife(this.life);
  }

  async start(): Promise<TestServer> {
    this.mark();
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

  /** SIGTERM; see TestServer.stop. */
  async stop(): Promise<void> {
    const { server } = this;
    this.#server = null;
    await server.stop();
  }

  /** A server that ends closes its connections. */
  override signalOf(): undefined {
    return undefined;
  }

  override async up(): Promise<TestServer> {
    while (!this.#server) await new Promise<void>((resolve) => this.#listeners.push(resolve));
    return this.#server;
  }
}
