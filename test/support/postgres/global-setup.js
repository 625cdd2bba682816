/**
 * Starts one embedded PostgreSQL for a jest run; its test files clone their databases there. A server of your own
 * does instead: TEST_POSTGRES_URL=postgresql://user:password@host/postgres (its user must be allowed to create
 * databases). Plain JavaScript, because jest loads this file without its transforms.
 */
import { chmod, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import pg from 'pg';

export default async function startPostgres() {
  if (process.env.TEST_POSTGRES_URL) return;
  // The product's own, from its sources: a jest run needs no build.
  await import('../typescript-loader/register.js');
  const { EmbeddedPostgres } = await import('../../../src/database/embedded/embedded-postgres.js');
  const directory = await mkdtemp(path.join(tmpdir(), 'agent-management-tests-'));
  // As root, PostgreSQL runs as another user, who has to get there.
  await chmod(directory, 0o711);
  const log = { debug() {}, info() {}, warn: console.warn, error: console.error };
  const server = await EmbeddedPostgres.start(directory, log);
  await flushNothing(server.url);
  process.env.TEST_POSTGRES_URL = server.url;
  globalThis.testPostgres = { server, directory };
}

/** What the tests store need not outlive the machine, and they clone hundreds of databases. */
async function flushNothing(url) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query('ALTER SYSTEM SET fsync = off');
  await client.query('SELECT pg_reload_conf()');
  await client.end();
}
