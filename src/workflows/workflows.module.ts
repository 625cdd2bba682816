import { Module } from '@nestjs/common';
import { AuditModule } from '../audit/index.js';
import { CheckDefinition } from './use-cases/check-definition.js';
import { CreateWorkflow } from './use-cases/create-workflow.js';
import { DeleteWorkflow } from './use-cases/delete-workflow.js';
import { ImportWorkflow } from './use-cases/import-workflow.js';
import { ListWorkflows } from './use-cases/list-workflows.js';
import { UpdateWorkflow } from './use-cases/update-workflow.js';
import { ValidateWorkflow } from './use-cases/validate-workflow.js';
import { WorkflowRepository } from './workflow.repository.js';

const services = [
  WorkflowRepository,
  ValidateWorkflow,
  CheckDefinition,
  CreateWorkflow,
  UpdateWorkflow,
  DeleteWorkflow,
  ListWorkflows,
  ImportWorkflow,
];

/** Definitions of workflows. Needs DataSource, and what AuditModule needs. */
@Module({ imports: [AuditModule], providers: services, exports: services })
export class WorkflowsModule {}
