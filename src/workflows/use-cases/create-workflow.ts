import { Injectable } from '@nestjs/common';
import { AuditLog } from '../../audit/index.js';
import { auditedWorkflow, type ChangedBy } from '../audited-workflow.js';
import type { WorkflowDefinition } from '../workflow-definition.js';
import { WorkflowExistsError } from '../workflow-errors.js';
import type { WorkflowInput } from '../workflow-input.js';
import { WorkflowRepository } from '../workflow.repository.js';
import { CheckDefinition } from './check-definition.js';

/** Makes a workflow with its version 1. */
@Injectable()
export class CreateWorkflow {
  constructor(
    private readonly repository: WorkflowRepository,
    private readonly checkDefinition: CheckDefinition,
    private readonly audit: AuditLog,
  ) {}

  /** Throws WorkflowExistsError, GraphInvalidError; then nothing has been stored. */
  async execute(input: WorkflowInput, by: ChangedBy): Promise<WorkflowDefinition> {
    const { name, mode, graphData, displayName = name, description = '' } = input;
    const settings = input.settings ?? {};
    // Told first: whoever posts a taken name hears of that, whatever the graph.
    if (await this.repository.hasName(name)) throw new WorkflowExistsError(name);
    await this.checkDefinition.execute(input, name);
    const now = new Date();
    const row = await this.repository.transaction(async (manager) => {
      const made = await this.repository.insertRow(
        {
          name,
          displayName,
          description,
          currentVersion: 1,
          createdAt: now,
          updatedAt: now,
          deletedAt: null,
        },
        manager,
      );
      if (!made) throw new WorkflowExistsError(name);
      const version = { workflowId: made.id, version: 1, mode, graphData, settings, createdAt: now };
      await this.repository.insertVersion(version, manager);
      await this.audit.append(manager, {
        ...by,
        action: 'workflow.created',
        subject: { type: 'workflow', id: made.id },
        before: null,
        after: auditedWorkflow({ name, displayName, description, version: 1, mode, graphData, settings }),
      });
      return made;
    });
    return {
      workflowId: Number(row.id),
      name,
      displayName,
      description,
      version: 1,
      mode,
      graphData,
      settings,
      createdAt: now,
      updatedAt: now,
    };
  }
}
