import pg from 'pg';
import { CONNECT_MILLIS } from './connect-millis.js';

/**
 * A connection of its own for a few statements that are needed all the time: each is prepared once, by its name, and
 * planned once. It is opened when first needed and again after it broke; a statement that was under way when it broke
 * fails, because nobody knows what became of it.
 */
export class PreparedConnection {
  #client: Promise<pg.Client> | null = null;
  #closed = false;

  constructor(
    private readonly url: string,
    /** What it is for, as PostgreSQL's list of sessions shows it. */
    private readonly purpose: string,
    private readonly connectMillis = CONNECT_MILLIS,
  ) {}

  /** Throws what PostgreSQL answers; see isConnectionError. */
  async query<Row extends object>(config: pg.QueryConfig): Promise<Row[]> {
    if (this.#closed) throw new Error(`the ${this.purpose} connection is closed`);
    const client = await (this.#client ??= this.#open());
    const { rows } = await client.query<Row>(config);
    return rows;
  }

  async close(): Promise<void> {
    this.#closed = true;
    const client = await this.#client?.catch(() => null);
    await client?.end();
  }

  async #open(): Promise<pg.Client> {
    const client = new pg.Client({
      connectionString: this.url,
      application_name: `agent-management ${this.purpose}`,
      keepAlive: true,
      connectionTimeoutMillis: this.connectMillis,
    });
    const forget = (): void => {
      this.#client = null;
    };
    client.on('error', forget);
    client.on('end', forget);
    try {
      await client.connect();
      // The plan is made once, perhaps on empty tables; it must be one that stays right when they grow.
      await client.query(
        `SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off; SET enable_hashjoin = off;
         SET enable_mergejoin = off; SET jit = off; SET synchronous_commit = on`,
      );
    } catch (error) {
      forget();
      throw error;
    }
    return client;
  }
}
