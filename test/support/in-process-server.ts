import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createLogger } from '../../src/common/logging/logger.js';
import { loadConfig } from '../../src/config/load-config.js';
import { startServer } from '../../src/server.js';
import { createTestDatabase } from './test-database.js';

export interface InProcessServer {
  /** `http://127.0.0.1:PORT` */
  readonly url: string;
  readonly databaseUrl: string;
  close(): Promise<void>;
}

/**
 * The whole server in this process on a database of its own, with the development configuration and no bridge:
 * for routes that run no agent. `environment` adds configuration.
 */
export async function startInProcessServer(
  environment: Record<string, string> = {},
): Promise<InProcessServer> {
  const database = await createTestDatabase();
  const dataDir = await mkdtemp(path.join(tmpdir(), 'in-process-server-'));
  const cleanUp = async () => {
    await rm(dataDir, { recursive: true, force: true });
    await database.close();
  };
  const loaded = loadConfig({
    NODE_ENV: 'development',
    PORT: '0',
    DATA_DIR: dataDir,
    DATABASE_URL: database.url,
    LOG_LEVEL: 'silent',
    HERMES_BRIDGE_MODE: 'external',
    HERMES_BRIDGE_URL: 'http://127.0.0.1:9',
    ...environment,
  });
  const redaction = { redact: (text: string) => text };
  try {
    const server = await startServer(loaded, createLogger({ level: 'silent', redaction }), redaction);
    const close = async () => {
      await server.close();
      await cleanUp();
    };
    return { url: server.url, databaseUrl: database.url, close };
  } catch (error) {
    await cleanUp();
    throw error;
  }
}
