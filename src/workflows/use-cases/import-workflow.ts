import { Injectable } from '@nestjs/common';
import type { ChangedBy } from '../audited-workflow.js';
import type { WorkflowDefinition } from '../workflow-definition.js';
import type { WorkflowInput } from '../workflow-input.js';
import { WorkflowRepository } from '../workflow.repository.js';
import { CreateWorkflow } from './create-workflow.js';
import { UpdateWorkflow } from './update-workflow.js';

export interface ImportOptions {
  /** Import under another name. */
  readonly name?: string;
  /** A living workflow of that name gets a new version; otherwise it is a WorkflowExistsError. */
  readonly overwrite?: boolean;
}

/** Takes in a workflow that was exported here or elsewhere. */
@Injectable()
export class ImportWorkflow {
  constructor(
    private readonly repository: WorkflowRepository,
    private readonly createWorkflow: CreateWorkflow,
    private readonly updateWorkflow: UpdateWorkflow,
  ) {}

  /** Throws WorkflowExistsError, GraphInvalidError. */
  async execute(
    document: WorkflowInput,
    { name, overwrite }: ImportOptions,
    by: ChangedBy,
  ): Promise<WorkflowDefinition> {
    const input = { ...document, name: name ?? document.name };
    // By name, never by id: a document names a workflow.
    if (overwrite && (await this.repository.hasName(input.name))) {
      return this.updateWorkflow.execute(input.name, input, by);
    }
    return this.createWorkflow.execute(input, by);
  }
}
