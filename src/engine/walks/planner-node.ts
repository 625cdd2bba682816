import type { JsonObject, JsonValue } from '../../common/json/json-value.js';
import type { WorkflowGraph } from '../../workflows/graph/workflow-graph.js';
import type { AgenticRules } from './agentic-walk.js';
import type { WalkNode } from './walk.js';

/** A visit as the planner sees it. */
export interface VisitSummary {
  nodeId: string;
  iterSeq: number;
  status: 'succeeded' | 'failed';
  data: JsonObject | null;
  error: string | null;
}

export interface PlannerSituation {
  history: readonly VisitSummary[];
  lastBatch: readonly string[];
  /** Answers the planner has given in this run, re-asked ones included. */
  asks: number;
  visitsLeft: number;
}

/** Characters of a visit's data that the planner is shown, and the visits it is shown. */
const SHOWN_DATA = 500;
const SHOWN_VISITS = 50;

/** The pseudo-node whose visit asks a model for the next batch; its `data` is all that the question needs. */
export function plannerNode(
  graph: WorkflowGraph,
  rules: AgenticRules,
  situation: PlannerSituation,
): WalkNode {
  const { history, lastBatch, asks, visitsLeft } = situation;
  return {
    id: 'planner',
    type: 'planner',
    data: {
      label: 'Planner',
      goal: rules.goal,
      model: rules.model,
      maxParallel: Math.max(1, Math.min(rules.maxParallel, visitsLeft)),
      asks,
      candidates: candidates(graph, rules, lastBatch),
      history: history.slice(-SHOWN_VISITS).map(shown),
    },
  };
}

function candidates(graph: WorkflowGraph, rules: AgenticRules, lastBatch: readonly string[]): JsonObject[] {
  const along = new Set(lastBatch.flatMap((id) => graph.outgoing(id).map(({ target }) => target)));
  return graph.nodes
    .filter(({ id, type }) => type !== 'userInput' && (rules.scope === 'graph' || along.has(id)))
    .map(({ id, type, data }) => ({ nodeId: id, type, label: data.label ?? id }));
}

function shown({ nodeId, iterSeq, status, data, error }: VisitSummary): JsonObject {
  const text = error ?? JSON.stringify(data ?? {});
  return {
    nodeId,
    visit: iterSeq,
    status,
    data: text.length > SHOWN_DATA ? `${text.slice(0, SHOWN_DATA)}…` : text,
  };
}

/** Reads what the planner's visit left: its next nodes, or that it has finished. */
export function plannedNodes(data: JsonObject | null): { next: string[]; finish: boolean; asks: number } {
  const next: JsonValue[] = Array.isArray(data?.next) ? data.next : [];
  return {
    next: next.flatMap((one) =>
      one !== null && typeof one === 'object' && !Array.isArray(one) && typeof one.nodeId === 'string'
        ? [one.nodeId]
        : [],
    ),
    finish: data?.finish === true,
    asks: typeof data?.asks === 'number' ? data.asks : 1,
  };
}
