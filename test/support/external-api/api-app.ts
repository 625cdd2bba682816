import { mkdtemp, rm } from 'node:fs/promises';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Global, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { pino } from 'pino';
import { DataSource } from 'typeorm';
import { ApiKeysModule } from '../../../src/api-keys/index.js';
import {
  assignRequestId,
  guardServer,
  refuseUnsoundHead,
  securityHeaders,
} from '../../../src/common/http/index.js';
import { HttpModule } from '../../../src/common/http/http.module.js';
import { LoggingModule } from '../../../src/common/logging/logging.module.js';
import { AppConfigModule } from '../../../src/config/config.module.js';
import { loadConfig } from '../../../src/config/load-config.js';
import { CredentialsModule } from '../../../src/credentials/index.js';
import { AnswerHumanInput, CancelRun, CreateRun, RerunRun, StartRun } from '../../../src/engine/index.js';
import { RunEventBus } from '../../../src/events/run-event-bus.js';
import { RunEventStore } from '../../../src/events/run-event-store.js';
import { externalApiParts } from '../../../src/external-api/external-api.module.js';
import { RunRepository } from '../../../src/runs/run.repository.js';
import { VisitRepository } from '../../../src/runs/visit.repository.js';
import { Workspaces } from '../../../src/runs/workspaces/workspaces.js';
import { WorkflowRepository } from '../../../src/workflows/index.js';
import { TestEngine } from '../engine/test-engine.js';
import type { TestDatabase } from '../test-database.js';

export interface ApiAppOptions {
  /** Configuration keys as environment variables. */
  env?: Record<string, string>;
  /** Names the process; two apps on one database need two names. */
  owner?: string;
  /** Shared with another app; else a folder of its own, removed at the end. */
  dataDir?: string;
}

/** `/api/v1` on the product's own HTTP stack and engine, with scripted agents instead of a bridge. */
export class ApiApp {
  private constructor(
    readonly url: string,
    readonly test: TestEngine,
    readonly app: NestExpressApplication,
    readonly dataDir: string,
    private readonly end: () => Promise<void>,
  ) {}

  static async start(database: TestDatabase, options: ApiAppOptions = {}): Promise<ApiApp> {
    const dataDir = options.dataDir ?? (await mkdtemp(path.join(tmpdir(), 'api-')));
    const loaded = loadConfig({ NODE_ENV: 'test', DATA_DIR: dataDir, ...options.env });
    const workspacesRoot = path.join(dataDir, 'workspaces');
    const test = await TestEngine.start(database, { owner: options.owner ?? 'api', workspacesRoot });
    const { createRun, startRun, cancelRun, rerunRun, answerHumanInput } = test.engine;
    const values = [
      { provide: DataSource, useValue: database.dataSource },
      { provide: RunEventBus, useValue: test.bus },
      { provide: RunEventStore, useValue: test.store },
      { provide: RunRepository, useValue: test.runs },
      { provide: VisitRepository, useValue: test.visits },
      { provide: Workspaces, useValue: test.workspaces },
      { provide: WorkflowRepository, useValue: test.workflows },
      { provide: CreateRun, useValue: createRun },
      { provide: StartRun, useValue: startRun },
      { provide: CancelRun, useValue: cancelRun },
      { provide: RerunRun, useValue: rerunRun },
      { provide: AnswerHumanInput, useValue: answerHumanInput },
    ];

    @Global()
    @Module({ providers: values, exports: values })
    class TestPartsModule {}

    @Module({
      imports: [
        AppConfigModule.forRoot(loaded),
        LoggingModule.forRoot(pino({ level: process.env.TEST_LOG_LEVEL ?? 'silent' })),
        HttpModule,
        CredentialsModule,
        TestPartsModule,
        ApiKeysModule,
      ],
      ...externalApiParts,
    })
    class ApiTestModule {}

    const app = await NestFactory.create<NestExpressApplication>(ApiTestModule, {
      logger: false,
      bodyParser: false,
      abortOnError: false,
    });
    app.disable('x-powered-by');
    app.disable('etag');
    app.set('query parser', 'simple');
    app.use(assignRequestId, securityHeaders, refuseUnsoundHead);
    const server: Server = app.getHttpServer();
    guardServer(server);
    await app.listen(0, '127.0.0.1');
    const { port } = server.address() as AddressInfo;
    return new ApiApp(`http://127.0.0.1:${port}`, test, app, dataDir, async () => {
      await app.close();
      await test.stop();
      if (!options.dataDir) await rm(dataDir, { recursive: true, force: true });
    });
  }

  close(): Promise<void> {
    return this.end();
  }
}
