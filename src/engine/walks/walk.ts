import type { JsonObject } from '../../common/json/json-value.js';
import type { GraphNode, NodeType } from '../../workflows/graph/graph-data.js';

/** A node as a walk plans it: one of the graph's, or the walk's own `planner`. */
export interface WalkNode extends Omit<GraphNode, 'type'> {
  type: NodeType | 'planner';
}

/**
 * Decides which node is visited when: the part in which DAG and AGENTIC differ. A walk is told what ended and says
 * what follows; it does no I/O, holds no clock, and answers the same when it is told the same again, which is how
 * a run is restored after a restart.
 */
export interface Walk {
  /** What may begin now, and which nodes are now known to be skipped. Each is given once. */
  advance(): WalkStep;
  /** A planned visit has ended. */
  ended(visit: EndedVisit): void;
  /** Asked once nothing is running, waiting or planned. */
  outcome(): WalkOutcome;
  node(nodeId: string): WalkNode | undefined;
  /** Nodes that were neither planned nor skipped, in the graph's order. */
  undecided(): string[];
}

export interface WalkStep {
  begin: PlannedVisit[];
  skip: SkippedNode[];
}

export interface PlannedVisit {
  nodeId: string;
  /** 1 for the node's first visit. */
  iterSeq: number;
  /** Visits it comes from. */
  predecessors: string[];
}

export interface SkippedNode {
  nodeId: string;
  /** Sources of its dead edges. */
  because: string[];
}

export interface EndedVisit {
  visitUuid: string;
  nodeId: string;
  /** `failed` only where the run goes on in spite of it (decision 11, `skip`). */
  status: 'succeeded' | 'failed';
  /** The outcome a condition chose. */
  handle: string | null;
  data: JsonObject | null;
  error: string | null;
}

export type WalkOutcome =
  | { kind: 'success'; outputs: JsonObject }
  | {
      kind: 'failure';
      reason: 'NODE_FAILED' | 'MAX_VISITS' | 'PLANNER_FAILED';
      nodeId: string | null;
      visitUuid: string | null;
      error: string;
    };

/** A run without an output succeeded unless something in it failed. */
export function outcomeWithoutOutput(firstFailure: EndedVisit | null): WalkOutcome {
  if (!firstFailure) return { kind: 'success', outputs: {} };
  const { nodeId, visitUuid, error } = firstFailure;
  return {
    kind: 'failure',
    reason: 'NODE_FAILED',
    nodeId,
    visitUuid,
    error: error ?? `node ${nodeId} failed`,
  };
}
