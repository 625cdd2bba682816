import type { RunEntity } from '../../runs/run.entity.js';
import type { VisitEntity } from '../../runs/visit.entity.js';

/** A run in the operators' list. */
export interface RunSummaryView {
  runId: string;
  workflowId: number;
  /** null: its workflow's row is gone. */
  workflowName: string | null;
  workflowVersion: number;
  status: RunEntity['status'];
  statusReason: RunEntity['statusReason'];
  apiKeyName: string | null;
  parentRunId: string | null;
  rerunOf: string | null;
  createdAt: Date;
  startedAt: Date | null;
  completedAt: Date | null;
}

/** A run with what its caller gave and got, and all its visits in the order of their beginning. */
export interface RunView extends RunSummaryView {
  error: string | null;
  errorDetail: RunEntity['errorDetail'];
  variables: RunEntity['variables'];
  outputs: RunEntity['outputs'];
  failStrategy: RunEntity['failStrategy'];
  ttlHours: number;
  callbackUrl: string | null;
  rerunFromNode: string | null;
  cancelRequestedAt: Date | null;
  workspaceExpiredAt: Date | null;
  visits: VisitView[];
}

/** A visit without its output, which `/api/v1` and the context query serve. */
export interface VisitView {
  visitUuid: string;
  nodeId: string;
  nodeType: string;
  iterSeq: number;
  attempt: number;
  status: VisitEntity['status'];
  /** null unless it failed. */
  error: string | null;
  errorCode: string | null;
  chosenHandle: string | null;
  skippedBecause: string[] | null;
  waiting: VisitEntity['waiting'];
  predecessors: string[];
  startedAt: Date;
  completedAt: Date | null;
}

export function runSummaryView(run: RunEntity, workflowName: string | null): RunSummaryView {
  return {
    runId: run.runId,
    workflowId: Number(run.workflowId),
    workflowName,
    workflowVersion: run.workflowVersion,
    status: run.status,
    statusReason: run.statusReason,
    apiKeyName: run.apiKeyName,
    parentRunId: run.parentRunId,
    rerunOf: run.rerunOf,
    createdAt: run.createdAt,
    startedAt: run.startedAt,
    completedAt: run.completedAt,
  };
}

export function runView(
  run: RunEntity,
  workflowName: string | null,
  visits: readonly VisitEntity[],
): RunView {
  return {
    ...runSummaryView(run, workflowName),
    error: run.error,
    errorDetail: run.errorDetail,
    variables: run.variables,
    outputs: run.outputs,
    failStrategy: run.failStrategy,
    ttlHours: run.ttlHours,
    callbackUrl: run.callbackUrl,
    rerunFromNode: run.rerunFromNode,
    cancelRequestedAt: run.cancelRequestedAt,
    workspaceExpiredAt: run.workspaceExpiredAt,
    visits: visits.map(visitView),
  };
}

function visitView(visit: VisitEntity): VisitView {
  return {
    visitUuid: visit.visitUuid,
    nodeId: visit.nodeId,
    nodeType: visit.nodeType,
    iterSeq: visit.iterSeq,
    attempt: visit.attempt,
    status: visit.status,
    error: visit.status === 'FAILED' ? (visit.envelope?.message ?? null) : null,
    errorCode: visit.errorCode,
    chosenHandle: visit.chosenHandle,
    skippedBecause: visit.skippedBecause,
    waiting: visit.waiting,
    predecessors: visit.predecessors,
    startedAt: visit.startedAt,
    completedAt: visit.completedAt,
  };
}
