import { TestServer, type TestServerOptions } from '../test-server.js';
import { Servers } from './servers.js';

/** Several servers on one database; what is asked goes to them in turn. */
export class ServerPool extends Servers {
  life = 1;
  #servers: TestServer[] = [];
  readonly #removed = new Map<TestServer, AbortController>();
  #turn = 0;

  constructor(
    private readonly options: TestServerOptions & { readonly dataDir: string; readonly databaseUrl: string },
    private readonly onLife: (life: number) => void = () => undefined,
  ) {
    super();
  }

  get servers(): readonly TestServer[] {
    return this.#servers;
  }

  async start(): Promise<TestServer> {
    const server = await TestServer.start(this.options);
    this.#removed.set(server, new AbortController());
    this.#servers.push(server);
    return server;
  }

  /** Asked no more; what it does counts as a life of its own. */
  remove(server: TestServer): void {
    this.#servers = this.#servers.filter((one) => one !== server);
    this.life += 1;
    this.onLife(this.life);
    this.#removed.get(server)?.abort();
  }

  override signalOf(server: TestServer): AbortSignal | undefined {
    return this.#removed.get(server)?.signal;
  }

  async stop(): Promise<void> {
    const left = this.#servers.splice(0);
    for (const server of this.#removed.keys()) {
      if (left.includes(server)) continue;
      await server.kill9();
      await server.forget();
    }
    for (const server of left) await server.stop();
  }

  override up(): Promise<TestServer> {
    const server = this.#servers[(this.#turn += 1) % this.#servers.length];
    return server ? Promise.resolve(server) : Promise.reject(new Error('no server is left'));
  }
}
