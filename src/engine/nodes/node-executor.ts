import type { JsonObject, JsonValue } from '../../common/json/json-value.js';
import type { VisitLogEntry } from '../../events/run-event.js';
import type { GraphData, NodeType } from '../../workflows/graph/graph-data.js';
import type { WalkNode, WalkOutcome } from '../walks/walk.js';

/** What lets one node act. One implementation a node type, one file each; registered in `node-executors.ts`. */
export interface NodeExecutor {
  readonly type: NodeType | 'planner';
  /** What a visit leaves, where that is known without acting; the same as `execute` would give. */
  known?(run: VisitedRun): JsonObject;
  /**
   * Acts once. Throws `NodeFailure` when the node failed; any other error counts as a failure that is not
   * retryable. Must stop soon after `signal` aborts.
   */
  execute(visit: NodeVisit, signal: AbortSignal): Promise<NodeResult>;
}

/** All that a node may know while it acts. */
export interface NodeVisit {
  readonly run: VisitedRun;
  readonly node: WalkNode;
  readonly visitUuid: string;
  /** The node's id as the run shows it: within an iteration `{iteration}.{inner}`. */
  readonly nodeId: string;
  /** 1 for the node's first visit in the run. */
  readonly iterSeq: number;
  /** 1 for the visit's first attempt. */
  readonly attempt: number;
  /** The attempt before this one was cut off by a crash: what it sent may still run. */
  readonly resumed?: boolean;
  /** `data` of the nodes it may read, by node id: what templates and conditions see. */
  readonly scope: Readonly<Record<string, JsonValue>>;
  /** The visits it came from. */
  readonly predecessors: readonly { readonly nodeId: string; readonly label: string }[];
  /** Seconds the attempt may take; the signal aborts after them. */
  readonly timeoutSeconds: number;
  /** What it waited for, perhaps with the answer by now; null where it has not waited. */
  readonly waited: JsonObject | null;
  /**
   * Walks a graph of its own as part of the run (iteration): node ids get the visit's as prefix. Resumes a walk that
   * a restart cut off. Never rejects for a failed node: that is the outcome.
   */
  walkItem(item: {
    graph: GraphData;
    iterSeq: number;
    scope: Record<string, JsonValue>;
    signal: AbortSignal;
  }): Promise<WalkOutcome>;
  /** Adds to the visit's log and to the live stream. */
  log(entry: VisitLogEntry): void;
  /** Reports tokens and tool calls, for the run's budget. */
  spend(amount: { tokens?: number; toolCalls?: number }): void;
}

export interface VisitedRun {
  readonly runId: string;
  /** Of the lease under which it is executed; what a node stores beside the journal has to be refused with it. */
  readonly leaseEpoch: number;
  readonly workflowId: string;
  readonly workflowName: string;
  readonly workflowVersion: number;
  readonly variables: JsonObject;
  readonly workspaceDir: string;
}

export type NodeResult =
  | {
      readonly kind: 'completed';
      readonly data: JsonObject;
      /** The outcome chosen; edges of other outcomes are dead. Absent: every edge is live. */
      readonly handle?: string;
    }
  | {
      /** Nothing more to do until somebody (a person, a clock, a child run) wakes the visit. */
      readonly kind: 'waiting';
      readonly waitingFor: JsonObject;
      readonly wakeAt: Date | null;
    };
