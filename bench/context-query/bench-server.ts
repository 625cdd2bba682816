import type { AddressInfo } from 'node:net';
import { Controller, HttpCode, Module, Post } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { pino } from 'pino';
import { assignRequestId, ListeningAddress } from '../../src/common/http/index.js';
import { HttpModule } from '../../src/common/http/http.module.js';
import { LoggingModule } from '../../src/common/logging/logging.module.js';
import { AppConfigModule } from '../../src/config/config.module.js';
import type { LoadedConfig } from '../../src/config/load-config.js';
import {
  ContextQueryModule,
  ContextTokens,
  installContextGate,
  VisitIndex,
} from '../../src/context-query/index.js';
import { VISIT_SOURCE, type VisitSource } from '../../src/context-query/queries/visit-source.js';
import { DatabaseModule } from '../../src/database/database.module.js';
import type { OpenDatabase } from '../../src/database/open-database.js';
import { EventsModule } from '../../src/events/events.module.js';
import { RunEventBus } from '../../src/events/run-event-bus.js';

/** What the context endpoints are compared with: a route that takes a body and does nothing. */
@Controller('nothing')
class NothingController {
  @Post()
  @HttpCode(200)
  nothing(): object {
    return { code: 200, message: 'success', data: null };
  }
}

export interface BenchServer {
  readonly url: string;
  readonly bus: RunEventBus;
  readonly tokens: ContextTokens;
  readonly index: VisitIndex;
  close(): Promise<void>;
}

/** The context endpoints on the product's HTTP stack. `databaseOnly` takes the visit index away from the queries. */
export async function startBenchServer(
  loaded: LoadedConfig,
  database: OpenDatabase,
  databaseOnly: VisitSource | null,
): Promise<BenchServer> {
  @Module({
    imports: [
      AppConfigModule.forRoot(loaded),
      DatabaseModule.forRoot(database),
      LoggingModule.forRoot(pino({ level: 'silent' })),
      HttpModule,
      EventsModule,
      ContextQueryModule,
    ],
    controllers: [NothingController],
  })
  class BenchModule {}

  const app = await NestFactory.create<NestExpressApplication>(BenchModule, {
    logger: false,
    bodyParser: false,
  });
  if (databaseOnly) Object.assign(app.get<VisitSource>(VISIT_SOURCE), overridden(databaseOnly));
  app.disable('x-powered-by');
  app.disable('etag');
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

function overridden(source: VisitSource): VisitSource {
  return {
    lineage: (runId, visitUuid) => source.lineage(runId, visitUuid),
    envelope: (runId, visit) => source.envelope(runId, visit),
    logs: (runId, visit) => source.logs(runId, visit),
  };
}
