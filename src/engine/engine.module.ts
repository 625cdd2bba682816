import { Inject, Module, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { LOGGER, type Logger } from '../common/logging/logger.js';
import { APP_CONFIG, type AppConfig } from '../config/app-config.js';
import { ContextQueryModule, ContextTokens } from '../context-query/index.js';
import { DatabaseAddress } from '../database/database-address.js';
import { RunEventBus } from '../events/run-event-bus.js';
import { RunEventStore } from '../events/run-event-store.js';
import { JournalConnection } from '../runs/journal/journal-connection.js';
import { JournalWriter } from '../runs/journal/journal-writer.js';
import { RunLeases } from '../runs/leases/run-leases.js';
import { RunRepository } from '../runs/run.repository.js';
import { VisitRepository } from '../runs/visit.repository.js';
import { Workspaces } from '../runs/workspaces/workspaces.js';
import { AgentRuntimeRouter } from '../runtime-adapters/agent-runtime-router.js';
import { RuntimeAdaptersModule } from '../runtime-adapters/runtime-adapters.module.js';
import { WorkflowRepository } from '../workflows/workflow.repository.js';
import { WorkflowsModule } from '../workflows/workflows.module.js';
import { InProcessDispatcher } from './dispatch/in-process-dispatcher.js';
import type { RunDispatcher } from './dispatch/run-dispatcher.js';
import { RUN_DISPATCHER } from './engine.tokens.js';
import { CloseRun } from './execution/close-run.js';
import { CompiledWorkflows } from './execution/compiled-workflows.js';
import { ExecuteRun } from './execution/execute-run.js';
import { ExecutionRegistry } from './execution/execution-registry.js';
import type { ExecutionServices } from './execution/execution-services.js';
import { LargeOutputs } from './execution/large-outputs.js';
import { readWaiting } from './execution/read-waiting.js';
import { nodeExecutors } from './nodes/node-executors.js';
import { CancelRun } from './use-cases/cancel-run.js';
import { CreateRun } from './use-cases/create-run.js';
import { StartRun } from './use-cases/start-run.js';

const EXECUTION_SERVICES = Symbol('ExecutionServices');

/** Walks the graphs of runs and lets their nodes act; recovers what a process that died left behind. */
@Module({
  imports: [ContextQueryModule, RuntimeAdaptersModule, WorkflowsModule],
  providers: [
    CreateRun,
    StartRun,
    CancelRun,
    {
      provide: CompiledWorkflows,
      inject: [WorkflowRepository],
      useFactory: (workflows: WorkflowRepository) => new CompiledWorkflows(workflows),
    },
    {
      provide: EXECUTION_SERVICES,
      inject: [APP_CONFIG, DataSource, Workspaces, AgentRuntimeRouter, ContextTokens],
      useFactory: (
        config: AppConfig,
        dataSource: DataSource,
        workspaces: Workspaces,
        runtime: AgentRuntimeRouter,
        tokens: ContextTokens,
      ): ExecutionServices => ({
        executors: nodeExecutors({ runtime, tokens, catalogue: null, defaultModel: config.hermes.llm.model }),
        workspaces,
        largeOutputs: new LargeOutputs(),
        streamMergeMillis: config.engine.streamMergeMillis,
        defaultConcurrency: config.engine.runConcurrency,
        readWaiting: (runId) => readWaiting(dataSource, runId),
      }),
    },
    {
      provide: ExecutionRegistry,
      inject: [RunLeases, LOGGER],
      useFactory: (leases: RunLeases, logger: Logger) => new ExecutionRegistry(leases, logger),
    },
    {
      provide: ExecuteRun,
      inject: [
        RunLeases,
        RunRepository,
        VisitRepository,
        RunEventStore,
        CompiledWorkflows,
        JournalWriter,
        ExecutionRegistry,
        EXECUTION_SERVICES,
      ],
      useFactory: (...parts: ConstructorParameters<typeof ExecuteRun>) => new ExecuteRun(...parts),
    },
    {
      provide: CloseRun,
      inject: [ExecuteRun],
      useFactory: (executeRun: ExecuteRun) => new CloseRun(executeRun),
    },
    {
      provide: RUN_DISPATCHER,
      inject: [ExecuteRun, RunLeases, ExecutionRegistry, APP_CONFIG, LOGGER],
      useFactory: (
        executeRun: ExecuteRun,
        leases: RunLeases,
        registry: ExecutionRegistry,
        { engine }: AppConfig,
        logger: Logger,
      ): RunDispatcher => new InProcessDispatcher(executeRun, leases, registry, engine, logger),
    },
  ],
  exports: [CreateRun, StartRun, CancelRun, ExecutionRegistry, RUN_DISPATCHER],
})
export class EngineModule implements OnApplicationBootstrap, OnApplicationShutdown {
  constructor(
    @Inject(RUN_DISPATCHER) private readonly dispatcher: RunDispatcher,
    private readonly leases: RunLeases,
    private readonly address: DatabaseAddress,
    private readonly journals: JournalWriter,
    private readonly connection: JournalConnection,
    private readonly bus: RunEventBus,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    this.bus.failures.subscribe(({ subscriber, event, error }) => {
      this.logger.error({ err: error, subscriber, runId: event.runId }, 'an event subscriber failed');
    });
    if (this.address.exclusive) await this.leases.forfeitAll();
    await this.dispatcher.start();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.dispatcher.stop();
    await this.journals.idle();
    await this.connection.close();
  }
}
