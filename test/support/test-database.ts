import { createHash, randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import type { DataSource } from 'typeorm';
import { createDataSource } from '../../src/database/data-source.js';
import { DatabaseAddress } from '../../src/database/database-address.js';
import { runMigrations } from '../../src/database/run-migrations.js';

const MIGRATIONS = path.resolve(import.meta.dirname, '../../src/database/migrations');
const TEMPLATE_LOCK = 7_153_004_212;
/** A connection that was just ended may still be seen for a moment. */
const LEAK_GRACE_MILLIS = 2_000;

export interface TestDatabase {
  readonly url: string;
  readonly address: DatabaseAddress;
  /** Ready to use; closed by close(). */
  readonly dataSource: DataSource;
  /** Drops the database. Throws, and so fails the test, when anybody is still connected to it. */
  close(): Promise<void>;
}

/**
 * A database of the caller's own with the product's schema, cloned from a template in some tens of milliseconds.
 * Use one per file: `beforeAll(async () => { database = await createTestDatabase(); })`,
 * `afterAll(() => database.close())`.
 */
export async function createTestDatabase({ poolSize = 4 } = {}): Promise<TestDatabase> {
  const server = serverUrl();
  const template = await requireTemplate(server);
  const name = `test_${randomBytes(6).toString('hex')}`;
  await withClient(server, (client) => client.query(`CREATE DATABASE ${name} TEMPLATE ${template}`));
  const url = databaseUrl(server, name);
  const dataSource = createDataSource(url, poolSize);
  await dataSource.initialize();
  const close = async (): Promise<void> => {
    if (dataSource.isInitialized) await dataSource.destroy();
    await withClient(server, async (client) => {
      const leaked = await leakedConnections(client, name);
      await client.query(`DROP DATABASE ${name} WITH (FORCE)`);
      if (leaked.length > 0) throw new Error(`connections were left open:\n${leaked.join('\n')}`);
    });
  };
  return { url, address: new DatabaseAddress(url, false), dataSource, close };
}

export interface EmptyDatabase {
  readonly url: string;
  readonly drop: () => Promise<void>;
}

/** An empty database without any table, for tests of migrations. Drop it with `drop`. */
export async function createEmptyDatabase({ encoding = 'UTF8' } = {}): Promise<EmptyDatabase> {
  const server = serverUrl();
  const name = `empty_${randomBytes(6).toString('hex')}`;
  await withClient(server, (client) =>
    client.query(
      `CREATE DATABASE ${name} TEMPLATE template0 ENCODING '${encoding}' LOCALE 'C' LOCALE_PROVIDER libc`,
    ),
  );
  const drop = async (): Promise<void> => {
    await withClient(server, (client) => client.query(`DROP DATABASE ${name} WITH (FORCE)`));
  };
  return { url: databaseUrl(server, name), drop };
}

function serverUrl(): string {
  const url = process.env.TEST_POSTGRES_URL;
  if (!url)
    throw new Error(
      'no PostgreSQL for tests: this jest project has no globalSetup (see test/support/postgres)',
    );
  return url;
}

function databaseUrl(server: string, name: string): string {
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.href;
}

/** Named after the migrations it holds, so that a lasting server never serves an old schema. */
async function requireTemplate(server: string): Promise<string> {
  const hash = createHash('sha256');
  for (const file of (await readdir(MIGRATIONS)).sort())
    hash.update(await readFile(path.join(MIGRATIONS, file)));
  const template = `template_${hash.digest('hex').slice(0, 16)}`;
  await withClient(server, async (client) => {
    await client.query('SELECT pg_advisory_lock($1)', [TEMPLATE_LOCK]);
    const { rowCount } = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [template]);
    if (rowCount === 0) await createTemplate(client, server, template);
  });
  return template;
}

async function createTemplate(client: pg.Client, server: string, template: string): Promise<void> {
  const unfinished = `${template}_new`;
  await client.query(`DROP DATABASE IF EXISTS ${unfinished} WITH (FORCE)`);
  await client.query(`CREATE DATABASE ${unfinished} TEMPLATE template0 ENCODING 'UTF8'`);
  const dataSource = createDataSource(databaseUrl(server, unfinished), 2);
  await dataSource.initialize();
  try {
    await runMigrations(dataSource);
  } finally {
    await dataSource.destroy();
  }
  await client.query(`ALTER DATABASE ${unfinished} RENAME TO ${template}`);
}

async function leakedConnections(client: pg.Client, name: string): Promise<string[]> {
  for (const until = Date.now() + LEAK_GRACE_MILLIS; ; await delay(20)) {
    const { rows } = await client.query<{ application_name: string; state: string; query: string }>(
      `SELECT application_name, state, query FROM pg_stat_activity
       WHERE datname = $1 AND backend_type = 'client backend'`,
      [name],
    );
    if (rows.length === 0 || Date.now() > until) {
      return rows.map((row) => `${row.application_name} (${row.state}): ${row.query.slice(0, 200)}`);
    }
  }
}

async function withClient<T>(url: string, use: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url, application_name: 'test-support' });
  await client.connect();
  try {
    return await use(client);
  } finally {
    await client.end();
  }
}
