import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { loadConfig } from '../../src/config/load-config.js';
import { openDatabase } from '../../src/database/open-database.js';
import { ApiApp } from '../../test/support/external-api/api-app.js';

const silent = {
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  debug: () => undefined,
};

/** The product's API and engine on a PostgreSQL of its own, or the one of DATABASE_URL, with scripted agents. */
export async function startBenchApi(): Promise<{ api: ApiApp; close: () => Promise<void> }> {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'bench-api-'));
  const { config } = loadConfig({
    NODE_ENV: 'test',
    DATA_DIR: dataDir,
    DATABASE_URL: process.env.DATABASE_URL,
  });
  const database = await openDatabase(config, silent as never);
  const { address, dataSource } = database;
  const close = () => database.close();
  const api = await ApiApp.start({ url: address.url, address, dataSource, close }, { dataDir });
  return {
    api,
    close: async () => {
      await api.close();
      await close();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
