import { Module } from '@nestjs/common';
import { ApiKeysModule } from '../api-keys/index.js';
import { WorkflowsModule } from '../workflows/index.js';
import { adminWorkflowsControllers } from './admin-api-controllers.js';
import { AdminAgentsModule } from './agents/admin-agents.module.js';
import { AdminAuthModule } from './auth/index.js';
import { ReceiveDocument } from './workflows/receive-document.js';

/** `/admin/v1`: what operators and authors call. Needs RunsModule, DatabaseModule and AppConfigModule, all global. */
@Module({
  imports: [AdminAgentsModule, AdminAuthModule, ApiKeysModule, WorkflowsModule],
  controllers: adminWorkflowsControllers,
  providers: [ReceiveDocument],
})
export class AdminApiModule {}
