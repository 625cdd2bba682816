import {
  Inject,
  Module,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
  type OnModuleInit,
} from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { DataSource } from 'typeorm';
import { ListeningAddress } from '../common/http/listening-address.js';
import { APP_CONFIG, type AppConfig } from '../config/app-config.js';
import { RunEventBus } from '../events/run-event-bus.js';
import { RunEventStore } from '../events/run-event-store.js';
import { ContextController } from './http/context.controller.js';
import { ContextGate } from './http/context-gate.js';
import { ContextListener } from './http/context-listener.js';
import { ContextTokenGuard } from './http/context-token.guard.js';
import { ownListenerAddress } from './http/own-listener-address.js';
import { MemoryFirstVisits, VISIT_SOURCE, type VisitSource } from './queries/visit-source.js';
import { readRunHistory } from './records/read-run-history.js';
import { VisitRecords } from './records/visit-records.js';
import { ContextTokens } from './tokens/context-tokens.js';
import { VisitIndex, type VisitIndexSettings } from './visit-index/visit-index.js';

/** The endpoints' own listener, or null when they live on the main one. */
const OWN_LISTENER = Symbol('ContextListener');

/** Visits of a run in memory; older ones are answered from the database (decision 29). */
const MAX_VISITS_IN_MEMORY = 200;

/** Lets agents ask what happened before their visit (internal-context-query.md). */
@Module({
  controllers: [ContextController],
  providers: [
    ContextTokenGuard,
    {
      provide: ContextGate,
      inject: [APP_CONFIG],
      useFactory: (config: AppConfig) => new ContextGate(listenerAddress(config) !== null),
    },
    {
      provide: OWN_LISTENER,
      inject: [APP_CONFIG, ContextGate],
      useFactory: (config: AppConfig, gate: ContextGate): ContextListener | null => {
        const address = listenerAddress(config);
        return address && new ContextListener(address, gate);
      },
    },
    {
      provide: ContextTokens,
      inject: [APP_CONFIG, ListeningAddress, OWN_LISTENER],
      useFactory: (config: AppConfig, main: ListeningAddress, own: ContextListener | null) =>
        new ContextTokens(config.hermes.contextQuery, () => (own ?? main).baseUrl(), main.known),
    },
    {
      provide: VisitIndex,
      inject: [APP_CONFIG, DataSource, RunEventStore],
      useFactory: (config: AppConfig, dataSource: DataSource, events: RunEventStore) => {
        const settings = indexSettings(config);
        return new VisitIndex(settings, (runId) => readRunHistory(dataSource, events, settings, runId));
      },
    },
    {
      provide: VISIT_SOURCE,
      inject: [VisitIndex, DataSource, RunEventStore],
      useFactory: (index: VisitIndex, dataSource: DataSource, events: RunEventStore): VisitSource =>
        new MemoryFirstVisits(index, new VisitRecords(dataSource, events)),
    },
  ],
  exports: [ContextTokens, ContextGate, VisitIndex],
})
export class ContextQueryModule implements OnModuleInit, OnApplicationBootstrap, OnApplicationShutdown {
  constructor(
    @Inject(APP_CONFIG) private readonly config: AppConfig,
    private readonly bus: RunEventBus,
    private readonly index: VisitIndex,
    private readonly tokens: ContextTokens,
    @Inject(OWN_LISTENER) private readonly listener: ContextListener | null,
    private readonly adapterHost: HttpAdapterHost,
  ) {}

  onModuleInit(): void {
    if (!this.config.hermes.contextQuery.enabled) return;
    // Before any run goes on: a subscriber does not see what was published earlier.
    this.index.start(this.bus);
    this.tokens.startCleanup();
  }

  async onApplicationBootstrap(): Promise<void> {
    await this.listener?.listen(this.adapterHost.httpAdapter.getInstance());
  }

  /** Last of all: a run that is being let go still answers its agents. */
  async onApplicationShutdown(): Promise<void> {
    this.tokens.stopCleanup();
    await this.index.stop();
    await this.listener?.close();
  }
}

/** Puts the gate before everything that routes a request. */
export function installContextGate(app: NestExpressApplication): void {
  app.use(app.get(ContextGate).middleware);
}

function listenerAddress({ hermes, host }: AppConfig): ReturnType<typeof ownListenerAddress> {
  return ownListenerAddress(hermes.contextQuery.listen, host);
}

function indexSettings({ hermes }: AppConfig): VisitIndexSettings {
  const { retentionMinutes, logBytesPerVisit, memoryLimit } = hermes.contextQuery;
  return {
    maxVisits: MAX_VISITS_IN_MEMORY,
    maxTextBytes: logBytesPerVisit,
    maxRunBytes: memoryLimit / 4,
    maxBytes: memoryLimit,
    retentionMillis: retentionMinutes * 60_000,
  };
}
