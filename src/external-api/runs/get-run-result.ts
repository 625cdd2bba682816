import { Injectable } from '@nestjs/common';
import type { JsonObject } from '../../common/json/json-value.js';
import { parseOrdered } from '../../common/json/parse-ordered.js';
import { RunEventStore } from '../../events/run-event-store.js';
import type { RunEntity } from '../../runs/run.entity.js';
import { VisitRepository } from '../../runs/visit.repository.js';
import { Workspaces } from '../../runs/workspaces/workspaces.js';
import { WorkflowRepository, type WorkflowDefinition } from '../../workflows/index.js';
import { runResult, type RunResult } from './run-result.js';

const NO_FILES = { fileCount: 0, totalBytes: 0 };

/** Gathers what is known of a run. */
@Injectable()
export class GetRunResult {
  constructor(
    private readonly workflows: WorkflowRepository,
    private readonly visits: VisitRepository,
    private readonly events: RunEventStore,
    private readonly workspaces: Workspaces,
  ) {}

  /** `run` is read before the rest: once it is seen ended, everything else that is read is final. */
  async execute(workflow: WorkflowDefinition, run: RunEntity): Promise<RunResult> {
    const [graphData, visits, logCounts, outputs, usage] = await Promise.all([
      this.#graphData(workflow, run),
      this.visits.ofRun(run.runId),
      this.events.countLogs(run.runId),
      this.#outputs(run),
      run.workspaceExpiredAt ? NO_FILES : this.workspaces.usage(run.runId),
    ]);
    return runResult({ run, workflow, graphData, visits, logCounts, outputs, usage });
  }

  /** The graph of the version that the run is pinned to. */
  async #graphData(workflow: WorkflowDefinition, run: RunEntity): Promise<WorkflowDefinition['graphData']> {
    if (workflow.version === run.workflowVersion) return workflow.graphData;
    const pinned = await this.workflows.findVersion(run.workflowId, run.workflowVersion);
    if (!pinned) throw new Error(`version ${run.workflowVersion} of workflow ${run.workflowId} is missing`);
    return pinned.graphData;
  }

  /** The very object that `workflow_complete` carried, also after the files have expired. */
  async #outputs(run: RunEntity): Promise<JsonObject | null> {
    if (run.status !== 'SUCCESS') return null;
    const last = await this.events.lastOf(run.runId);
    if (last?.type !== 'workflow_complete') throw new Error(`run ${run.runId} has no workflow_complete`);
    return (parseOrdered(last.payload) as { outputs: JsonObject }).outputs;
  }
}
