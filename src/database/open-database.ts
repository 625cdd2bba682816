import type { DataSource } from 'typeorm';
import { z } from 'zod';
import { reasonOf } from '../common/errors/reason-of.js';
import type { AppConfig } from '../config/app-config.js';
import { closeConnections } from './close-connections.js';
import { createDataSource } from './data-source.js';
import { DatabaseAddress } from './database-address.js';
import type { DatabaseLog } from './embedded/database-log.js';
import { EmbeddedPostgres } from './embedded/embedded-postgres.js';
import { runMigrations } from './run-migrations.js';

export interface OpenDatabase {
  readonly address: DatabaseAddress;
  readonly dataSource: DataSource;
  /** Settles when an embedded PostgreSQL ended by itself. */
  readonly lost: Promise<Error>;
  close(): Promise<void>;
}

const OLDEST_VERSION = 140_000;

/** Connects to DATABASE_URL, or starts the embedded PostgreSQL, and brings the schema up to date. */
export async function openDatabase(
  { databaseUrl, dataDir, database }: Pick<AppConfig, 'databaseUrl' | 'dataDir' | 'database'>,
  log: DatabaseLog,
): Promise<OpenDatabase> {
  const embedded = databaseUrl === null ? await EmbeddedPostgres.start(dataDir, log) : undefined;
  const address = new DatabaseAddress(embedded?.url ?? databaseUrl ?? '', embedded !== undefined);
  const dataSource = createDataSource(address.url, database.poolSize, log);
  const close = async (): Promise<void> => {
    try {
      if (dataSource.isInitialized) await closeConnections(dataSource);
    } finally {
      await embedded?.stop();
    }
  };
  try {
    await connect(dataSource, embedded === undefined);
    await requireUsableServer(dataSource);
    for (const name of await runMigrations(dataSource)) log.info(`migrated the database: ${name}`);
  } catch (error) {
    await close();
    throw error;
  }
  return { address, dataSource, lost: embedded?.lost ?? new Promise(() => undefined), close };
}

async function connect(dataSource: DataSource, isConfigured: boolean): Promise<void> {
  try {
    await dataSource.initialize();
  } catch (error) {
    if (!isConfigured) throw error;
    throw new Error(`database-url (DATABASE_URL): ${reasonOf(error)}`, { cause: error });
  }
}

const serverSchema = z.tuple([
  z.object({ version: z.string(), number: z.coerce.number(), encoding: z.string() }),
]);

async function requireUsableServer(dataSource: DataSource): Promise<void> {
  const rows: unknown = await dataSource.query(
    `SELECT current_setting('server_version') AS version, current_setting('server_version_num') AS number,
            current_setting('server_encoding') AS encoding`,
  );
  const [{ version, number, encoding }] = serverSchema.parse(rows);
  if (number < OLDEST_VERSION) throw new Error(`PostgreSQL ${version} is too old: 14 or newer is needed`);
  if (encoding !== 'UTF8') throw new Error(`the database's encoding is ${encoding}; it has to be UTF8`);
}
