import type { JsonObject, JsonValue } from '../common/json/json-value.js';
import type { NodeStatus, RunStatusReason } from '../runs/run-status.js';
import type { Envelope } from '../runs/envelope.js';
import type { NodeType } from '../workflows/graph/graph-data.js';

/** Event names of the public stream (external-workflow-api.md, "SSE 流"). */
export type StreamEventType =
  'run_started' | 'node_status' | 'node_stream' | 'workflow_complete' | 'workflow_error';

/** Types of a node's log entries (decision 14). */
export type LogType = 'THINKING' | 'TOOL_CALL' | 'TOOL_RESULT' | 'TODO_UPDATE' | 'INFO' | 'ERROR';

/** Where something happened: the visit and the node it visits. */
export interface VisitRef {
  readonly visitUuid: string;
  readonly nodeId: string;
  readonly nodeType: NodeType | 'planner';
  readonly label: string;
  /** 1 for the node's first visit in the run. */
  readonly iterSeq: number;
}

/** The engine has begun to walk the graph. Always the first event. */
export interface RunStarted {
  readonly kind: 'run-started';
}

/** A visit begins, or begins again as a further attempt. Its predecessors are the visits it came from. */
export interface VisitStarted {
  readonly kind: 'visit-started';
  readonly visit: VisitRef;
  readonly attempt: number;
  /** Order of beginning within the run, from 1. A further attempt keeps it. */
  readonly sortOrder: number;
  readonly predecessors: readonly string[];
}

/** Something a visit said or did while it ran. Text deltas are already merged; see `MergeStreamedText`. */
export interface VisitLogged {
  readonly kind: 'visit-logged';
  readonly visit: VisitRef;
  readonly entry: VisitLogEntry;
}

export type VisitLogEntry =
  | { readonly type: 'thinking'; readonly text: string }
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'tool_call'; readonly tool: string; readonly callId: string; readonly args: JsonValue }
  | {
      readonly type: 'tool_result';
      readonly tool: string;
      readonly callId: string;
      readonly result: JsonValue;
      readonly error: string | null;
    }
  | { readonly type: 'todo'; readonly todos: JsonValue[] }
  | { readonly type: 'info'; readonly message: string };

/** A visit waits for a person, a clock or a child run; nothing of it is held in memory meanwhile. */
export interface VisitWaiting {
  readonly kind: 'visit-waiting';
  readonly visit: VisitRef;
  readonly waitingFor: JsonObject;
}

/** A visit has ended with its envelope. */
export interface VisitEnded {
  readonly kind: 'visit-ended';
  readonly visit: VisitRef;
  readonly status: Extract<NodeStatus, 'SUCCESS' | 'FAILED'>;
  readonly envelope: Envelope;
  /** The error's stable code, for `errorDetail`; null on success. */
  readonly errorCode: string | null;
}

/** A node will not be visited in this run (decision 30). */
export interface NodeSkipped {
  readonly kind: 'node-skipped';
  readonly visit: VisitRef;
  readonly skippedBecause: readonly string[];
}

/** The run has ended; the last event, once. */
export interface RunFinished {
  readonly kind: 'run-finished';
  readonly status: 'SUCCESS' | 'FAILED';
  readonly statusReason: RunStatusReason | null;
  readonly error: string | null;
  readonly nodeId: string | null;
  /** Public outputs (`_workingDirFiles` and `_runId` included) of a success; null on failure. */
  readonly outputs: JsonObject | null;
  readonly resultUrl: string;
  readonly workspaceUrl: string;
}

/** Everything that happens in a run, in the order it happened. Owned by the engine. */
export type RunEvent =
  RunStarted | VisitStarted | VisitLogged | VisitWaiting | VisitEnded | NodeSkipped | RunFinished;

/**
 * An event after it is durable, as it reaches the bus.
 * `payload` is the JSON text of the public stream's `data`, serialised once for all readers.
 */
export interface RecordedRunEvent {
  readonly runId: string;
  /** Per-run number from 1 without gaps; the SSE id. */
  readonly seq: number;
  readonly type: StreamEventType;
  /** ISO-8601 UTC. */
  readonly timestamp: string;
  readonly payload: string;
  readonly event: RunEvent;
}
