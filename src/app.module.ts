import { Module, type DynamicModule } from '@nestjs/common';
import { AdminApiModule } from './admin-api/index.js';
import { ApiKeysModule } from './api-keys/index.js';
import { AuditModule } from './audit/audit.module.js';
import { HttpModule } from './common/http/http.module.js';
import type { Logger } from './common/logging/logger.js';
import { LoggingModule } from './common/logging/logging.module.js';
import { AppConfigModule } from './config/config.module.js';
import type { LoadedConfig } from './config/load-config.js';
import { ContextQueryModule } from './context-query/index.js';
import { CredentialsModule } from './credentials/credentials.module.js';
import { DatabaseModule } from './database/database.module.js';
import type { OpenDatabase } from './database/open-database.js';
import { EngineModule } from './engine/index.js';
import { EventsModule } from './events/events.module.js';
import { ExternalApiModule } from './external-api/index.js';
import { HealthModule } from './health/health.module.js';
import { MetricsModule } from './metrics/metrics.module.js';
import { RunsModule } from './runs/runs.module.js';
import { WorkflowsModule } from './workflows/workflows.module.js';

/** The composition root: names every context once. */
@Module({})
export class AppModule {
  static forRoot(loaded: LoadedConfig, database: OpenDatabase, logger: Logger): DynamicModule {
    return {
      module: AppModule,
      imports: [
        AppConfigModule.forRoot(loaded),
        DatabaseModule.forRoot(database),
        LoggingModule.forRoot(logger),
        HttpModule,
        CredentialsModule,
        EventsModule,
        RunsModule,
        AuditModule,
        ApiKeysModule,
        WorkflowsModule,
        ContextQueryModule,
        EngineModule,
        ExternalApiModule,
        AdminApiModule,
        HealthModule,
        MetricsModule,
      ],
    };
  }
}
