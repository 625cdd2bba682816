import { Injectable } from '@nestjs/common';
import { AuditLog } from '../../audit/index.js';
import { auditedWorkflow, type ChangedBy } from '../audited-workflow.js';
import { WorkflowNotFoundError } from '../workflow-errors.js';
import { WorkflowRepository } from '../workflow.repository.js';

/** Takes a workflow away: it is found no more and its name is free. Runs that it has go on and stay readable. */
@Injectable()
export class DeleteWorkflow {
  constructor(
    private readonly repository: WorkflowRepository,
    private readonly audit: AuditLog,
  ) {}

  /** Throws WorkflowNotFoundError. Gives the id of what is gone. */
  async execute(nameOrId: string, by: ChangedBy): Promise<{ workflowId: number; name: string }> {
    const found = await this.repository.findByNameOrId(nameOrId);
    if (!found) throw new WorkflowNotFoundError(nameOrId);
    const { workflowId, name } = found;
    await this.repository.transaction(async (manager) => {
      if (!(await this.repository.markDeleted(String(workflowId), new Date(), manager))) {
        throw new WorkflowNotFoundError(nameOrId);
      }
      await this.audit.append(manager, {
        ...by,
        action: 'workflow.deleted',
        subject: { type: 'workflow', id: String(workflowId) },
        before: auditedWorkflow(found),
        after: null,
      });
    });
    return { workflowId, name };
  }
}
