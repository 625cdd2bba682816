import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { AppModule } from './app.module.js';
import {
  assignRequestId,
  guardServer,
  ListeningAddress,
  refuseUnsoundHead,
  securityHeaders,
} from './common/http/index.js';
import type { Logger, LogRedaction } from './common/logging/logger.js';
import { NestLogger } from './common/logging/nest-logger.js';
import type { LoadedConfig } from './config/load-config.js';
import { startWarnings } from './config/start-warnings.js';
import { installContextGate } from './context-query/index.js';
import { SecretRedactor } from './credentials/secret-redactor.js';
import { openDatabase } from './database/open-database.js';
import { serveDocumentation } from './documentation.js';
import { Metrics } from './metrics/metrics.js';

/** Proxies keep connections longer than Node's 5 s; one they reuse must not be closing. */
const KEEP_ALIVE_MILLIS = 65_000;

export interface RunningServer {
  /** `http://host:port` */
  readonly url: string;
  /** Settles when something the server cannot do without ended by itself. */
  readonly lost: Promise<Error>;
  /** Ends requests, runs, child processes and an embedded PostgreSQL, in this order. */
  close(): Promise<void>;
}

/** Starts everything. A start that fails leaves nothing behind. */
export async function startServer(
  loaded: LoadedConfig,
  logger: Logger,
  redaction: LogRedaction,
): Promise<RunningServer> {
  for (const warning of startWarnings(loaded.config)) logger.warn(warning);
  const database = await openDatabase(loaded.config, logger);
  let app: NestExpressApplication | undefined;
  const close = async (): Promise<void> => {
    try {
      await app?.close();
    } finally {
      await database.close();
    }
  };
  try {
    app = await NestFactory.create<NestExpressApplication>(AppModule.forRoot(loaded, database, logger), {
      logger: new NestLogger(logger),
      bodyParser: false,
      abortOnError: false,
    });
    keepSecretsOutOfTheLog(app.get(SecretRedactor), redaction, loaded, database.address.url);
    configureHttp(app);
    const url = await listen(app, loaded);
    return { url, lost: database.lost, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/**
 * Beside what the redactor knows (it also cleans what is stored and shown): keys of callers and passwords of addresses,
 * which no content can hold but by chance.
 */
function keepSecretsOutOfTheLog(
  redactor: SecretRedactor,
  redaction: LogRedaction,
  { config, secrets }: LoadedConfig,
  databaseUrl: string,
): void {
  const ofTheServer = new SecretRedactor();
  secrets.observe((key, value) => ofTheServer.register(key, value));
  for (const address of [databaseUrl, config.redisUrl]) {
    if (address === null || !URL.canParse(address)) continue;
    const { protocol, password } = new URL(address);
    if (password !== '') ofTheServer.register(`the password of ${protocol}`, decodeURIComponent(password));
  }
  redaction.redact = (text) => ofTheServer.redact(redactor.redact(text));
}

function configureHttp(app: NestExpressApplication): void {
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', 'simple');
  app.use(assignRequestId, securityHeaders, app.get(Metrics).measureRequest, refuseUnsoundHead);
  installContextGate(app);
  serveDocumentation(app);
  const server: Server = app.getHttpServer();
  server.keepAliveTimeout = KEEP_ALIVE_MILLIS;
  guardServer(server);
}

async function listen(app: NestExpressApplication, { config }: LoadedConfig): Promise<string> {
  await app.listen(config.port, config.host);
  const server: Server = app.getHttpServer();
  const { port } = server.address() as AddressInfo;
  app.get(ListeningAddress).set(config.host, port);
  return `http://${config.host.includes(':') ? `[${config.host}]` : config.host}:${port}`;
}
