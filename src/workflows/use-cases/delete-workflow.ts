import { Injectable } from '@nestjs/common';
import { WorkflowNotFoundError } from '../workflow-errors.js';
import { WorkflowRepository } from '../workflow.repository.js';

/** Takes a workflow away: it is found no more and its name is free. Runs that it has go on and stay readable. */
@Injectable()
export class DeleteWorkflow {
  constructor(private readonly repository: WorkflowRepository) {}

  /** Throws WorkflowNotFoundError. Gives the id of what is gone. */
  async execute(nameOrId: string): Promise<{ workflowId: number; name: string }> {
    const found = await this.repository.findRow(nameOrId);
    if (!found || !(await this.repository.markDeleted(found.id, new Date()))) {
      throw new WorkflowNotFoundError(nameOrId);
    }
    return { workflowId: Number(found.id), name: found.name };
  }
}
