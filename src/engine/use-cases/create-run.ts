import type { DataSource } from 'typeorm';
import { type EntityManager } from 'typeorm';
import { newRunId } from '../../common/ids/run-id.js';
import type { JsonObject } from '../../common/json/json-value.js';
import type { RunRepository } from '../../runs/run.repository.js';
import { type NewRun } from '../../runs/run.repository.js';
import { validateVariables, type FailStrategy, type WorkflowDefinition } from '../../workflows/index.js';
import type { CreatedRuns } from './created-runs.js';

export interface CreateRunCommand {
  /** Given where files were uploaded for it already. */
  runId?: string;
  workflow: WorkflowDefinition;
  variables: JsonObject;
  failStrategy?: FailStrategy | null;
  ttlHours: number;
  apiKeyName: string | null;
  callbackUrl?: string | null;
  rerunOf?: { runId: string; fromNode: string | null };
  parent?: { runId: string; visitUuid: string };
  /** Stored in the same transaction, or not at all. */
  alsoInTransaction?: (manager: EntityManager, run: NewRun) => Promise<void>;
}

/** Stores a run of a workflow's version, `CREATED`. Throws ValidationError for variables that do not fit. */
export class CreateRun {
  constructor(
    private readonly dataSource: DataSource,
    private readonly runs: RunRepository,
    private readonly created: CreatedRuns,
  ) {}

  async execute(command: CreateRunCommand): Promise<NewRun> {
    const { workflow, alsoInTransaction } = command;
    const run: NewRun = {
      runId: command.runId ?? newRunId(),
      workflowId: String(workflow.workflowId),
      workflowVersion: workflow.version,
      variables: validateVariables(workflow.graphData, command.variables),
      failStrategy: command.failStrategy ?? null,
      ttlHours: command.ttlHours,
      apiKeyName: command.apiKeyName,
      callbackUrl: command.callbackUrl ?? null,
      parentRunId: command.parent?.runId ?? null,
      parentVisitUuid: command.parent?.visitUuid ?? null,
      rerunOf: command.rerunOf?.runId ?? null,
      rerunFromNode: command.rerunOf?.fromNode ?? null,
      createdAt: new Date(),
    };
    if (!alsoInTransaction) await this.runs.insert(run);
    else {
      await this.dataSource.transaction(async (manager) => {
        await this.runs.insert(run, manager);
        await alsoInTransaction(manager, run);
      });
    }
    this.created.remember(run);
    return run;
  }
}
