import { Injectable } from '@nestjs/common';
import { QueryFailedError } from 'typeorm';
import { AuditLog } from '../../audit/index.js';
import { auditedWorkflow, type ChangedBy } from '../audited-workflow.js';
import type { WorkflowDefinition } from '../workflow-definition.js';
import { WorkflowChangedError, WorkflowExistsError, WorkflowNotFoundError } from '../workflow-errors.js';
import type { WorkflowUpdate } from '../workflow-input.js';
import { WorkflowRepository } from '../workflow.repository.js';
import { CheckDefinition } from './check-definition.js';

const UNIQUE_VIOLATION = '23505';

/** Adds a version to a workflow and makes it the current one. Runs keep the version they were created with. */
@Injectable()
export class UpdateWorkflow {
  constructor(
    private readonly repository: WorkflowRepository,
    private readonly checkDefinition: CheckDefinition,
    private readonly audit: AuditLog,
  ) {}

  /**
   * Changes at the same time come one after the other, each a version of its own, unless `expectedVersion` says which
   * one the caller saw. Throws WorkflowNotFoundError, WorkflowExistsError (a new name that is taken),
   * WorkflowChangedError, GraphInvalidError; then nothing has changed.
   */
  async execute(nameOrId: string, input: WorkflowUpdate, by: ChangedBy): Promise<WorkflowDefinition> {
    const found = await this.repository.findRow(nameOrId);
    if (!found) throw new WorkflowNotFoundError(nameOrId);
    const { mode, graphData, expectedVersion, name = found.name } = input;
    const settings = input.settings ?? {};
    await this.checkDefinition.execute({ mode, graphData, settings }, name);
    const now = new Date();
    const store = this.repository.transaction(async (manager) => {
      const row = await this.repository.lock(found.id, manager);
      if (!row) throw new WorkflowNotFoundError(nameOrId);
      if (expectedVersion !== undefined && expectedVersion !== row.currentVersion) {
        throw new WorkflowChangedError(row.name, expectedVersion, row.currentVersion);
      }
      const before = { name: row.name, version: row.currentVersion, displayName: row.displayName };
      const version = row.currentVersion + 1;
      await this.repository.insertVersion(
        { workflowId: row.id, version, mode, graphData, settings, createdAt: now },
        manager,
      );
      const changed = Object.assign(row, {
        name,
        displayName: input.displayName ?? row.displayName,
        description: input.description ?? row.description,
        currentVersion: version,
        updatedAt: now,
      });
      await this.repository.updateRow(changed, manager);
      await this.audit.append(manager, {
        ...by,
        action: 'workflow.updated',
        subject: { type: 'workflow', id: row.id },
        before,
        after: auditedWorkflow({ ...changed, version, mode, graphData, settings }),
      });
      return changed;
    });
    const row = await store.catch((error: unknown) => {
      throw isUniqueViolation(error) ? new WorkflowExistsError(name) : error;
    });
    return {
      workflowId: Number(row.id),
      name: row.name,
      displayName: row.displayName,
      description: row.description,
      version: row.currentVersion,
      mode,
      graphData,
      settings,
      createdAt: row.createdAt,
      updatedAt: now,
    };
  }
}

function isUniqueViolation(error: unknown): boolean {
  if (!(error instanceof QueryFailedError)) return false;
  return (error.driverError as { code?: unknown }).code === UNIQUE_VIOLATION;
}
