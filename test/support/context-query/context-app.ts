import type { AddressInfo } from 'node:net';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { pino } from 'pino';
import { DataSource } from 'typeorm';
import { assignRequestId, ListeningAddress } from '../../../src/common/http/index.js';
import { HttpModule } from '../../../src/common/http/http.module.js';
import { LoggingModule } from '../../../src/common/logging/logging.module.js';
import type { AppConfig } from '../../../src/config/app-config.js';
import { AppConfigModule } from '../../../src/config/config.module.js';
import { loadConfig } from '../../../src/config/load-config.js';
import {
  ContextQueryModule,
  ContextTokens,
  installContextGate,
  VisitIndex,
} from '../../../src/context-query/index.js';
import { DatabaseAddress } from '../../../src/database/database-address.js';
import { DatabaseModule } from '../../../src/database/database.module.js';
import { EventsModule } from '../../../src/events/events.module.js';
import { RunEventBus } from '../../../src/events/run-event-bus.js';
import { createDataSource } from '../../../src/database/data-source.js';

export type ContextQueryConfig = AppConfig['hermes']['contextQuery'];

export interface ContextApp {
  /** Of the main listener. */
  readonly url: string;
  readonly bus: RunEventBus;
  readonly tokens: ContextTokens;
  readonly index: VisitIndex;
  close(): Promise<void>;
}

/**
 * The context endpoints on the product's own HTTP stack, with nothing else of the product. Without a data source
 * only memory can answer.
 */
export async function startContextApp(
  options: { contextQuery?: Partial<ContextQueryConfig>; dataSource?: DataSource } = {},
): Promise<ContextApp> {
  const { config, secrets } = loadConfig({ NODE_ENV: 'test' });
  const contextQuery = { ...config.hermes.contextQuery, ...options.contextQuery };
  const loaded = { config: { ...config, hermes: { ...config.hermes, contextQuery } }, secrets };
  const dataSource = options.dataSource ?? createDataSource('postgres://127.0.0.1:1/none', 1);
  const address = new DatabaseAddress('postgres://127.0.0.1:1/none', false);

  @Module({
    imports: [
      AppConfigModule.forRoot(loaded),
      DatabaseModule.forRoot({ address, dataSource }),
      LoggingModule.forRoot(pino({ level: 'silent' })),
      HttpModule,
      EventsModule,
      ContextQueryModule,
    ],
  })
  class ContextTestModule {}

  const app = await NestFactory.create<NestExpressApplication>(ContextTestModule, {
    logger: false,
    bodyParser: false,
    abortOnError: false,
  });
  app.use(assignRequestId);
  installContextGate(app);
  await app.listen(0, '127.0.0.1');
  const { port } = app.getHttpServer().address() as AddressInfo;
  app.get(ListeningAddress).set('127.0.0.1', port);
  return {
    url: `http://127.0.0.1:${port}`,
    bus: app.get(RunEventBus),
    tokens: app.get(ContextTokens),
    index: app.get(VisitIndex),
    close: () => app.close(),
  };
}
