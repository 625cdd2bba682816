import type { JsonObject, JsonValue } from '../../common/json/json-value.js';
import type { WorkflowGraph } from '../../workflows/graph/workflow-graph.js';
import type { AgenticRules } from './agentic-rules.js';
import type { EndedVisit, WalkNode } from './walk.js';

/** A visit as the planner sees it: short, because every later question holds it. */
export type VisitSummary = { nodeId: string; visit: number; status: 'succeeded' | 'failed'; data: string };

export interface PlannerSituation {
  history: readonly VisitSummary[];
  /** Nodes that the edges fired by the last batch lead to. */
  along: ReadonlySet<string>;
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
  const { history, along, asks, visitsLeft } = situation;
  return {
    id: 'planner',
    type: 'planner',
    data: {
      label: 'Planner',
      goal: rules.goal,
      model: rules.model,
      maxParallel: rules.maxParallel,
      asks,
      visitsLeft,
      candidates: candidates(graph, rules, along),
      history: history.slice(-SHOWN_VISITS),
    },
  };
}

/** Any node, or (`scope: edges`) those along an edge that fired; an unchosen branch is no candidate. */
function candidates(graph: WorkflowGraph, rules: AgenticRules, along: ReadonlySet<string>): JsonObject[] {
  return graph.nodes
    .filter(({ id, type }) => type !== 'userInput' && (rules.scope === 'graph' || along.has(id)))
    .map(({ id, type, data }) => ({ nodeId: id, type, label: data.label ?? id }));
}

export function summaryOf(visit: EndedVisit, iterSeq: number): VisitSummary {
  const { nodeId, status, data, error } = visit;
  return { nodeId, visit: iterSeq, status, data: beginning(error ?? JSON.stringify(data ?? {})) };
}

/** Cut between characters, not within one. */
function beginning(text: string): string {
  if (text.length <= SHOWN_DATA) return text;
  return `${text.slice(0, SHOWN_DATA).replace(/[\uD800-\uDBFF]$/, '')}…`;
}

/** Reads what the planner's visit left: its next nodes, or that it has finished. */
export function plannedNodes(data: JsonObject | null): { next: string[]; finish: boolean; asks: number } {
  const next: JsonValue[] = Array.isArray(data?.next) ? data.next : [];
  const nodeIds = next.flatMap((one) =>
    one !== null && typeof one === 'object' && !Array.isArray(one) && typeof one.nodeId === 'string'
      ? [one.nodeId]
      : [],
  );
  return {
    next: [...new Set(nodeIds)],
    finish: data?.finish === true,
    asks: typeof data?.asks === 'number' ? data.asks : 1,
  };
}
