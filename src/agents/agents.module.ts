import { randomUUID } from 'node:crypto';
import { Module, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { AuditLog, AuditModule } from '../audit/index.js';
import { LOGGER, type Logger } from '../common/logging/logger.js';
import { APP_CONFIG, type AppConfig } from '../config/app-config.js';
import { Credentials, SecretRedactor } from '../credentials/index.js';
import { DatabaseAddress } from '../database/database-address.js';
import {
  AgentRuntimeRouter,
  CallLedger,
  CallUpkeep,
  createRuntimeGovernance,
  GovernedRuntime,
  ListRuntimeCalls,
  LOG_PARTS,
  ReadUsage,
  RecoverRuntimeCall,
  RuntimeAdaptersModule,
  type RuntimeGovernance,
} from '../runtime-adapters/index.js';
import { AgentRepository } from './agent.repository.js';
import { AgentCatalogue } from './catalogue/agent-catalogue.js';
import { CheckPublishable } from './config/check-publishable.js';
import { ArchiveAgent } from './use-cases/archive-agent.js';
import { BindSlot } from './use-cases/bind-slot.js';
import { CopyAgentVersion } from './use-cases/copy-agent-version.js';
import { CreateAgentVersion } from './use-cases/create-agent-version.js';
import { CreateAgent } from './use-cases/create-agent.js';
import { InvokeAgent } from './use-cases/invoke-agent.js';
import { ListAgents } from './use-cases/list-agents.js';
import { OpenConsoleLink } from './use-cases/open-console-link.js';
import { PublishAgentVersion } from './use-cases/publish-agent-version.js';
import { SwitchCurrentVersion } from './use-cases/switch-current-version.js';

const GOVERNANCE = Symbol('RuntimeGovernance');

/** A process that was silent for so long has lost its calls. */
const OWNER_LOST_SECONDS = 30;

/** System agents, and the runtime behind the policies of their versions. */
@Module({
  imports: [AuditModule, RuntimeAdaptersModule],
  providers: [
    {
      provide: AgentRepository,
      inject: [DataSource],
      useFactory: (dataSource: DataSource) => new AgentRepository(dataSource),
    },
    {
      provide: AgentCatalogue,
      inject: [AgentRepository],
      useFactory: (agents: AgentRepository) => new AgentCatalogue(agents),
    },
    {
      provide: GOVERNANCE,
      inject: [
        APP_CONFIG,
        LOGGER,
        DataSource,
        DatabaseAddress,
        AgentRuntimeRouter,
        AgentCatalogue,
        SecretRedactor,
        Credentials,
      ],
      useFactory: (
        config: AppConfig,
        logger: Logger,
        dataSource: DataSource,
        address: DatabaseAddress,
        router: AgentRuntimeRouter,
        policies: AgentCatalogue,
        redactor: SecretRedactor,
        credentials: Credentials,
      ): RuntimeGovernance =>
        createRuntimeGovernance({
          dataSource,
          router,
          policies,
          redactor,
          credentials,
          hasLogAccess: (ref) => hasLogAccess(config, ref),
          owner: randomUUID(),
          // Nobody else uses an embedded database: whoever left a call there is gone.
          ownerLostSeconds: address.exclusive ? 0 : OWNER_LOST_SECONDS,
          onError: (error) => logger.error({ err: error }, 'a runtime call could not be settled'),
        }),
    },
    {
      provide: GovernedRuntime,
      inject: [GOVERNANCE],
      useFactory: ({ runtime }: RuntimeGovernance) => runtime,
    },
    {
      provide: RecoverRuntimeCall,
      inject: [GOVERNANCE],
      useFactory: ({ recover }: RuntimeGovernance) => recover,
    },
    {
      provide: CallUpkeep,
      inject: [GOVERNANCE, LOGGER],
      useFactory: (governance: RuntimeGovernance, logger: Logger) =>
        new CallUpkeep(governance, (error) =>
          logger.error({ err: error }, 'a job of the runtime call ledger failed'),
        ),
    },
    {
      provide: CheckPublishable,
      inject: [APP_CONFIG, AgentRuntimeRouter, Credentials, AgentCatalogue],
      useFactory: (
        { environment }: AppConfig,
        router: AgentRuntimeRouter,
        credentials: Credentials,
        catalogue: AgentCatalogue,
      ) =>
        new CheckPublishable({
          supports: (ref) => router.supports(ref),
          credentialProblem: (ref, use) => credentials.problemWith(ref, use),
          hasPublishedAgent: async (agentKey) => (await catalogue.resolve({ agentKey })) !== null,
          allowsDemoModel: environment !== 'production',
        }),
    },
    { provide: CallLedger, inject: [GOVERNANCE], useFactory: ({ ledger }: RuntimeGovernance) => ledger },
    ...[ListAgents, ListRuntimeCalls, ReadUsage].map((query) => ({
      provide: query,
      inject: [DataSource],
      useFactory: (dataSource: DataSource) => new query(dataSource),
    })),
    ...[SwitchCurrentVersion, ArchiveAgent, BindSlot].map((useCase) => ({
      provide: useCase,
      inject: [AgentRepository, AuditLog],
      useFactory: (agents: AgentRepository, audit: AuditLog) => new useCase(agents, audit),
    })),
    ...[CreateAgent, CreateAgentVersion].map((useCase) => ({
      provide: useCase,
      inject: [AgentRepository, AuditLog, SecretRedactor],
      useFactory: (agents: AgentRepository, audit: AuditLog, secrets: SecretRedactor) =>
        new useCase(agents, audit, secrets),
    })),
    {
      provide: CopyAgentVersion,
      inject: [AgentRepository, CreateAgentVersion],
      useFactory: (agents: AgentRepository, create: CreateAgentVersion) =>
        new CopyAgentVersion(agents, create),
    },
    {
      provide: PublishAgentVersion,
      inject: [AgentRepository, CheckPublishable, AuditLog, SecretRedactor],
      useFactory: (
        agents: AgentRepository,
        check: CheckPublishable,
        audit: AuditLog,
        secrets: SecretRedactor,
      ) => new PublishAgentVersion(agents, check, audit, secrets),
    },
    {
      provide: OpenConsoleLink,
      inject: [AgentRepository, Credentials, AuditLog],
      useFactory: (agents: AgentRepository, credentials: Credentials, audit: AuditLog) =>
        new OpenConsoleLink(agents, (ref) => credentials.consoleBaseUrl(ref), audit),
    },
    {
      provide: InvokeAgent,
      inject: [AgentRepository, AgentCatalogue, GovernedRuntime],
      useFactory: (agents: AgentRepository, catalogue: AgentCatalogue, runtime: GovernedRuntime) =>
        new InvokeAgent(agents, catalogue, runtime),
    },
  ],
  exports: [
    AgentRepository,
    AgentCatalogue,
    GovernedRuntime,
    RecoverRuntimeCall,
    CreateAgent,
    CreateAgentVersion,
    CopyAgentVersion,
    PublishAgentVersion,
    SwitchCurrentVersion,
    ArchiveAgent,
    BindSlot,
    OpenConsoleLink,
    ListAgents,
    InvokeAgent,
    CallLedger,
    ListRuntimeCalls,
    ReadUsage,
  ],
})
export class AgentsModule implements OnApplicationBootstrap, BeforeApplicationShutdown {
  constructor(private readonly upkeep: CallUpkeep) {}

  onApplicationBootstrap(): void {
    this.upkeep.start();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.upkeep.stop();
  }
}

function hasLogAccess({ credentials }: AppConfig, ref: string): boolean {
  const parts = Object.hasOwn(credentials, ref) ? credentials[ref]?.parts : undefined;
  return parts !== undefined && Object.values(LOG_PARTS).every((part) => Object.hasOwn(parts, part));
}
