import type { JsonObject } from '../../common/json/json-value.js';
import type { GraphNode } from '../../workflows/graph/graph-data.js';

/**
 * Decides which node is visited when: the part in which DAG and AGENTIC differ. A walk is told what ended and says
 * what follows; it does no I/O, holds no clock, and gives the same answers when it is told the same again.
 */
export interface Walk {
  /** What may begin now, and which nodes are now known to be skipped. Each is given once. */
  advance(): WalkStep;
  /** A visit has ended, in whatever order visits end. */
  ended(visit: EndedVisit): void;
  /** A visit was planned, or a node skipped, before a restart; `advance` does not give it again. */
  planned(visit: { nodeId: string; sortOrder: number; predecessors: readonly string[] }): void;
  skipped(nodeId: string): void;
  /** Asked once nothing is running, waiting or ready. */
  outcome(): WalkOutcome;
  /** A node of the walk's own making (`planner`); absent or undefined: look in the graph. */
  node?(nodeId: string): GraphNode | undefined;
  /** Nodes that were neither visited nor skipped, in the graph's order. */
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
