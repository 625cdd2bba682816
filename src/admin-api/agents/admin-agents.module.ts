import { Module } from '@nestjs/common';
import { AgentsModule } from '../../agents/index.js';
import { AuditModule } from '../../audit/index.js';
import { AuditLogsController } from '../audit/audit-logs.controller.js';
import { AdminAuthModule } from '../auth/index.js';
import { CredentialsController } from '../credentials/credentials.controller.js';
import { RuntimeCallsController } from '../runtime-calls/runtime-calls.controller.js';
import { UsageController } from '../usage/usage.controller.js';
import { AgentVersionsController } from './agent-versions.controller.js';
import { AgentsController } from './agents.controller.js';
import { InvocationsController } from './invocations.controller.js';
import { SlotsController } from './slots.controller.js';

/** The part of `/admin/v1` about agents: what they are, what they did, what it cost, and who changed them. */
@Module({
  imports: [AdminAuthModule, AgentsModule, AuditModule],
  controllers: [
    AgentsController,
    AgentVersionsController,
    InvocationsController,
    SlotsController,
    RuntimeCallsController,
    UsageController,
    CredentialsController,
    AuditLogsController,
  ],
})
export class AdminAgentsModule {}
