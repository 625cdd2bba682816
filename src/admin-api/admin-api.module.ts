import { Module } from '@nestjs/common';
import { ApiKeysModule } from '../api-keys/index.js';
import { WorkflowsModule } from '../workflows/index.js';
import { AdminAgentsModule } from './agents/admin-agents.module.js';
import { ApiKeysController } from './api-keys/api-keys.controller.js';
import { AdminAuthModule } from './auth/index.js';
import { RunsController } from './runs/runs.controller.js';
import { ReceiveDocument } from './workflows/receive-document.js';
import { WorkflowTransferController } from './workflows/workflow-transfer.controller.js';
import { WorkflowsController } from './workflows/workflows.controller.js';

/** `/admin/v1`: what operators and authors call. Needs RunsModule, DatabaseModule and AppConfigModule, all global. */
@Module({
  imports: [AdminAgentsModule, AdminAuthModule, ApiKeysModule, WorkflowsModule],
  controllers: [WorkflowsController, WorkflowTransferController, ApiKeysController, RunsController],
  providers: [ReceiveDocument],
})
export class AdminApiModule {}
