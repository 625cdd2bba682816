import type { JsonObject, JsonValue } from '../../common/json/json-value.js';
import { orderedObject } from '../../common/json/ordered-object.js';
import type { RunFinished } from '../../events/run-event.js';
import type { RunEnd } from '../../runs/journal/journal-entry.js';
import type { RunStatusReason } from '../../runs/run-status.js';
import type { WorkspaceFile } from '../../runs/workspaces/workspaces.js';

/** Why a run ends before its walk is over. */
export interface RunAbort {
  statusReason: RunStatusReason;
  error: string;
  nodeId: string | null;
  visitUuid: string | null;
  code: string;
}

export const CANCELLED: RunAbort = {
  statusReason: 'CANCELLED',
  error: 'the run was cancelled',
  nodeId: null,
  visitUuid: null,
  code: 'CANCELLED',
};

/** Outputs as callers see them (external-workflow-api.md, "查询结果"). */
export function publicOutputs(
  runId: string,
  outputs: JsonObject,
  files: readonly WorkspaceFile[],
): JsonObject {
  return orderedObject<JsonValue>([
    ...Object.entries(outputs),
    ['_workingDirFiles', files.map(({ path }) => path)],
    ['_runId', runId],
  ]);
}

export function runPath(workflowName: string, runId: string): string {
  return `/api/v1/workflows/${workflowName}/runs/${runId}`;
}

/** The record and the event of a run's success. */
export function success(
  runId: string,
  workflowName: string,
  outputs: JsonObject,
  files: readonly WorkspaceFile[],
): { end: RunEnd; event: RunFinished } {
  return {
    end: { status: 'SUCCESS', statusReason: null, error: null, errorDetail: null, outputs },
    event: {
      kind: 'run-finished',
      status: 'SUCCESS',
      statusReason: null,
      error: null,
      nodeId: null,
      outputs: publicOutputs(runId, outputs, files),
      resultUrl: runPath(workflowName, runId),
      workspaceUrl: `${runPath(workflowName, runId)}/workspace`,
    },
  };
}

/** The record and the event of a run's failure. */
export function failure(
  runId: string,
  workflowName: string,
  abort: RunAbort,
): { end: RunEnd; event: RunFinished } {
  const { statusReason, error, nodeId, visitUuid, code } = abort;
  return {
    end: {
      status: 'FAILED',
      statusReason,
      error,
      errorDetail: { code, nodeId, visitUuid },
      outputs: null,
    },
    event: {
      kind: 'run-finished',
      status: 'FAILED',
      statusReason,
      error,
      nodeId,
      outputs: null,
      resultUrl: runPath(workflowName, runId),
      workspaceUrl: `${runPath(workflowName, runId)}/workspace`,
    },
  };
}
