import { Module } from '@nestjs/common';
import { WorkflowRepository } from './workflow.repository.js';

/** Definitions of workflows. Needs DataSource. */
@Module({
  providers: [WorkflowRepository],
  exports: [WorkflowRepository],
})
export class WorkflowsModule {}
