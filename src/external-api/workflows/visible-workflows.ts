import { Injectable } from '@nestjs/common';
import { mayUse, type ApiKeyIdentity } from '../../api-keys/index.js';
import { RunNotFoundError } from '../../runs/run-errors.js';
import type { RunEntity } from '../../runs/run.entity.js';
import { RunRepository } from '../../runs/run.repository.js';
import { WorkflowNotFoundError, WorkflowRepository, type WorkflowDefinition } from '../../workflows/index.js';

/** A run with the workflow under whose path it was found. */
export interface VisibleRun {
  workflow: WorkflowDefinition;
  run: RunEntity;
}

/** What a key may see. Everything else answers exactly as if it did not exist (decision 8). */
@Injectable()
export class VisibleWorkflows {
  constructor(
    private readonly workflows: WorkflowRepository,
    private readonly runs: RunRepository,
  ) {}

  /** By name, or by id where no name matches (decision 9). */
  async find(caller: ApiKeyIdentity, nameOrId: string): Promise<WorkflowDefinition> {
    const workflow = await this.workflows.findByNameOrId(nameOrId);
    if (!workflow || !mayUse(caller, { id: workflow.workflowId, name: workflow.name })) {
      throw new WorkflowNotFoundError(nameOrId);
    }
    return workflow;
  }

  async findRun(caller: ApiKeyIdentity, nameOrId: string, runId: string): Promise<VisibleRun> {
    const workflow = await this.find(caller, nameOrId);
    // A text that no run id has (U+0000, say) never reaches the database.
    const run = /^[a-z0-9_-]{1,64}$/.test(runId) ? await this.runs.find(runId) : null;
    if (!run || Number(run.workflowId) !== workflow.workflowId) throw new RunNotFoundError(runId);
    return { workflow, run };
  }
}
