import type { JsonObject, JsonValue } from '../../common/json/json-value.js';
import type { NodeStatus, RunStatus, RunStatusReason } from '../../runs/run-status.js';
import type { ErrorDetail, RunEntity } from '../../runs/run.entity.js';
import type { VisitEntity } from '../../runs/visit.entity.js';
import type { WorkspaceUsage } from '../../runs/workspaces/workspaces.js';
import type { GraphData } from '../../workflows/index.js';
import { logsPath, runLinks, type RunLinks } from './run-links.js';

/** `data` of `GET …/runs/{runId}` (external-workflow-api.md, "查询结果"; decisions 10, 14, 15). */
export interface RunResult {
  runId: string;
  workflowId: number;
  workflowName: string;
  displayName: string;
  status: RunStatus;
  statusReason: RunStatusReason | null;
  createdAt: Date;
  startedAt: Date | null;
  completedAt: Date | null;
  error: string | null;
  errorDetail: ErrorDetail | null;
  /** The output node's fields with `_workingDirFiles` and `_runId`; null until the run has succeeded. */
  outputs: JsonObject | null;
  nodes: NodeResult[];
  /** What the run waits for: people, clocks, child runs. */
  waiting: WaitingNode[];
  workspace: WorkspaceResult;
  rerunOf: string | null;
  parentRunId: string | null;
  links: RunLinks;
}

export interface NodeResult {
  nodeId: string;
  nodeType: string;
  label: string;
  status: NodeStatus;
  /** `data` of the last visit's envelope. */
  output: JsonObject | null;
  error: string | null;
  errorDetail: ErrorDetail | null;
  startedAt: Date | null;
  completedAt: Date | null;
  visits: VisitResult[];
  /** Only for a skipped node: the nodes that are the cause. */
  skippedBecause?: string[];
  logsCount: number;
  logsUrl: string;
}

export interface VisitResult {
  visitUuid: string;
  iterSeq: number;
  status: NodeStatus;
  startedAt: Date;
  completedAt: Date | null;
}

export interface WaitingNode {
  nodeId: string;
  visitUuid: string;
  fields: JsonValue;
  since: Date;
  [key: string]: unknown;
}

export interface WorkspaceResult extends WorkspaceUsage {
  downloadUrl: string;
  /** Set once the files have been removed (decision 17). */
  expiredAt: Date | null;
}

export interface RunResultParts {
  run: RunEntity;
  workflow: { workflowId: number; name: string; displayName: string };
  graphData: GraphData;
  visits: readonly VisitEntity[];
  logCounts: ReadonlyMap<string, number>;
  outputs: JsonObject | null;
  usage: WorkspaceUsage;
}

export function runResult(parts: RunResultParts): RunResult {
  const { run, workflow, outputs, usage, visits } = parts;
  const links = runLinks(workflow.name, run.runId);
  return {
    runId: run.runId,
    workflowId: workflow.workflowId,
    workflowName: workflow.name,
    displayName: workflow.displayName,
    status: run.status,
    statusReason: run.statusReason,
    createdAt: run.createdAt,
    startedAt: run.startedAt,
    completedAt: run.completedAt,
    error: run.error,
    errorDetail: run.errorDetail,
    outputs,
    nodes: nodeResults(parts),
    waiting: visits.filter(({ status }) => status === 'WAITING').map(waitingNode),
    workspace: { ...usage, downloadUrl: links.workspace, expiredAt: run.workspaceExpiredAt },
    rerunOf: run.rerunOf,
    parentRunId: run.parentRunId,
    links,
  };
}

/**
 * Every node of the graph in the graph's order, then what else was visited (nodes inside iterations, the planner)
 * in the order of the first visit.
 */
function nodeResults({ run, workflow, graphData, visits, logCounts }: RunResultParts): NodeResult[] {
  const byNode = new Map<string, VisitEntity[]>();
  for (const { id } of graphData.nodes) byNode.set(id, []);
  for (const visit of visits) {
    const known = byNode.get(visit.nodeId);
    if (known) known.push(visit);
    else byNode.set(visit.nodeId, [visit]);
  }
  const definitions = new Map(graphData.nodes.map((node) => [node.id, node]));
  return [...byNode].map(([nodeId, ofNode]) => {
    const definition = definitions.get(nodeId);
    const last = ofNode.at(-1);
    return {
      nodeId,
      nodeType: definition?.type ?? last?.nodeType ?? '',
      label: definition?.data.label ?? nodeId,
      ...lastVisit(last),
      visits: ofNode
        .filter(({ status }) => status !== 'SKIPPED')
        .map(({ visitUuid, iterSeq, status, startedAt, completedAt }) => ({
          visitUuid,
          iterSeq,
          status,
          startedAt,
          completedAt,
        })),
      logsCount: logCounts.get(nodeId) ?? 0,
      logsUrl: logsPath(workflow.name, run.runId, nodeId),
    };
  });
}

function lastVisit(
  last: VisitEntity | undefined,
): Pick<
  NodeResult,
  'status' | 'output' | 'error' | 'errorDetail' | 'startedAt' | 'completedAt' | 'skippedBecause'
> {
  if (!last) {
    return {
      status: 'PENDING',
      output: null,
      error: null,
      errorDetail: null,
      startedAt: null,
      completedAt: null,
    };
  }
  const failed = last.status === 'FAILED';
  return {
    status: last.status,
    output: last.envelope?.data ?? null,
    error: failed ? (last.envelope?.message ?? null) : null,
    errorDetail: failed
      ? { code: last.errorCode ?? 'NODE_FAILED', nodeId: last.nodeId, visitUuid: last.visitUuid }
      : null,
    startedAt: last.status === 'SKIPPED' ? null : last.startedAt,
    completedAt: last.completedAt,
    ...(last.status === 'SKIPPED' ? { skippedBecause: last.skippedBecause ?? [] } : {}),
  };
}

function waitingNode({ nodeId, visitUuid, waiting, startedAt }: VisitEntity): WaitingNode {
  return { ...waiting, nodeId, visitUuid, fields: waiting?.['fields'] ?? [], since: startedAt };
}
