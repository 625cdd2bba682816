import 'reflect-metadata';
import { reasonOf } from './common/errors/reason-of.js';
import { createLogger, type LogRedaction } from './common/logging/logger.js';
import { ConfigError } from './config/config-error.js';
import { loadConfig, type LoadedConfig } from './config/load-config.js';
import { startServer } from './server.js';

/** An orderly end takes less; whatever hangs beyond it is cut off. */
const SHUTDOWN_MILLIS = 9_500;

function readConfig(): LoadedConfig {
  try {
    return loadConfig();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(1);
  }
}

const loaded = readConfig();
const redaction: LogRedaction = { redact: (text) => text };
const logger = createLogger({ level: loaded.config.logLevel, redaction });
const starting = startServer(loaded, logger, redaction);
let ending = false;

/** `code` is what the process ends with, unless the clean-up fails. */
async function end(code: number): Promise<void> {
  if (ending) return;
  ending = true;
  setTimeout(() => {
    logger.error('the clean-up took too long');
    process.exit(1);
  }, SHUTDOWN_MILLIS).unref();
  try {
    await starting.then(
      (server) => server.close(),
      () => undefined,
    );
  } catch (error) {
    logger.error({ err: error }, 'the clean-up failed');
    process.exit(1);
  }
  process.exit(code);
}

for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
  process.on(signal, () => {
    // Whoever asks a second time does not want to wait.
    if (ending) process.exit(1);
    logger.info(`${signal}: stopping`);
    void end(0);
  });
}
for (const kind of ['uncaughtException', 'unhandledRejection'] as const) {
  process.on(kind, (error: unknown) => {
    logger.fatal({ err: error }, kind);
    void end(1);
  });
}

try {
  const server = await starting;
  void server.lost.then((error) => {
    logger.fatal({ err: error }, 'the database is lost');
    return end(1);
  });
  process.stdout.write(`listening on ${server.url}\n`);
} catch (error) {
  logger.debug({ err: error }, 'the start failed');
  process.stderr.write(`the server does not start: ${reasonOf(error)}\n`);
  await end(1);
}
