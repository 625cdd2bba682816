import { Module } from '@nestjs/common';
import { AgentsModule } from '../../agents/index.js';
import { AuditModule } from '../../audit/index.js';
import { adminAgentsControllers } from '../admin-api-controllers.js';
import { AdminAuthModule } from '../auth/index.js';

/** The part of `/admin/v1` about agents: what they are, what they did, what it cost, and who changed them. */
@Module({
  imports: [AdminAuthModule, AgentsModule, AuditModule],
  controllers: adminAgentsControllers,
})
export class AdminAgentsModule {}
