import {
  Inject,
  Module,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
  type OnModuleDestroy,
} from '@nestjs/common';
import { DataSource } from 'typeorm';
import { LOGGER, type Logger } from '../common/logging/logger.js';
import { APP_CONFIG, type AppConfig } from '../config/app-config.js';
import { ContextQueryModule, ContextTokens } from '../context-query/index.js';
import { DatabaseAddress } from '../database/database-address.js';
import { RunEventBus } from '../events/run-event-bus.js';
import { RunEventStore } from '../events/run-event-store.js';
import { JournalWriter } from '../runs/journal/journal-writer.js';
import { RunLeases } from '../runs/leases/run-leases.js';
import { RunConnections } from '../runs/run-connections.js';
import { RunRepository } from '../runs/run.repository.js';
import { VisitRepository } from '../runs/visit.repository.js';
import { Workspaces } from '../runs/workspaces/workspaces.js';
import { AgentCatalogue, AgentsModule } from '../agents/index.js';
import { GovernedRuntime } from '../runtime-adapters/index.js';
import { WorkflowRepository, WorkflowsModule } from '../workflows/index.js';
import { createEngine, type Engine } from './engine.js';
import { ExecutionRegistry } from './execution/execution-registry.js';
import { AnswerHumanInput } from './use-cases/answer-human-input.js';
import { CancelRun } from './use-cases/cancel-run.js';
import { CreateRun } from './use-cases/create-run.js';
import { RerunRun } from './use-cases/rerun-run.js';
import { StartRun } from './use-cases/start-run.js';

const ENGINE = Symbol('Engine');

/** Walks the graphs of runs and lets their nodes act; recovers what a process that died left behind. */
@Module({
  imports: [AgentsModule, ContextQueryModule, WorkflowsModule],
  providers: [
    {
      provide: ENGINE,
      inject: [
        APP_CONFIG,
        LOGGER,
        DataSource,
        RunRepository,
        VisitRepository,
        RunLeases,
        JournalWriter,
        RunEventStore,
        Workspaces,
        WorkflowRepository,
        GovernedRuntime,
        ContextTokens,
        AgentCatalogue,
      ],
      useFactory: (
        config: AppConfig,
        logger: Logger,
        dataSource: DataSource,
        runs: RunRepository,
        visits: VisitRepository,
        leases: RunLeases,
        journals: JournalWriter,
        events: RunEventStore,
        workspaces: Workspaces,
        workflows: WorkflowRepository,
        runtime: GovernedRuntime,
        tokens: ContextTokens,
        catalogue: AgentCatalogue,
      ): Engine =>
        createEngine({
          config,
          logger,
          dataSource,
          runs,
          visits,
          leases,
          journals,
          events,
          workspaces,
          workflows,
          runtime,
          tokens,
          catalogue,
        }),
    },
    { provide: CreateRun, inject: [ENGINE], useFactory: (engine: Engine) => engine.createRun },
    { provide: StartRun, inject: [ENGINE], useFactory: (engine: Engine) => engine.startRun },
    { provide: CancelRun, inject: [ENGINE], useFactory: (engine: Engine) => engine.cancelRun },
    { provide: RerunRun, inject: [ENGINE], useFactory: (engine: Engine) => engine.rerunRun },
    { provide: AnswerHumanInput, inject: [ENGINE], useFactory: (engine: Engine) => engine.answerHumanInput },
    { provide: ExecutionRegistry, inject: [ENGINE], useFactory: (engine: Engine) => engine.registry },
  ],
  exports: [CreateRun, StartRun, CancelRun, RerunRun, AnswerHumanInput, ExecutionRegistry],
})
export class EngineModule implements OnApplicationBootstrap, OnModuleDestroy, OnApplicationShutdown {
  constructor(
    @Inject(ENGINE) private readonly engine: Engine,
    private readonly leases: RunLeases,
    private readonly address: DatabaseAddress,
    private readonly journals: JournalWriter,
    private readonly connections: RunConnections,
    private readonly bus: RunEventBus,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    this.bus.failures.subscribe(({ subscriber, event, error }) => {
      this.logger.error({ err: error, subscriber, runId: event.runId }, 'an event subscriber failed');
    });
    if (this.address.exclusive) await this.leases.forfeitAll();
    await this.engine.dispatcher.start();
    this.engine.orphans.start();
  }

  /**
   * Before the bridge, the HTTP server and the streams end: nothing new begins, nodes stop, others may take the runs.
   * Requests that still come find the journal open until they have been answered.
   */
  async onModuleDestroy(): Promise<void> {
    await this.engine.orphans.stop();
    await this.engine.dispatcher.stop();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.journals.idle();
    await this.connections.close();
  }
}
