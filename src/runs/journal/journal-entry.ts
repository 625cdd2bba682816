import type { JsonObject } from '../../common/json/json-value.js';
import type { RunEvent } from '../../events/run-event.js';
import type { NodeType } from '../../workflows/graph/graph-data.js';
import type { Envelope } from '../envelope.js';
import type { NodeStatus, RunStatusReason } from '../run-status.js';
import type { ErrorDetail } from '../run.entity.js';

/** One atomic step of a run: its events, the visits it begins and ends, and the run's end or rest. */
export interface JournalEntry {
  events: RunEvent[];
  begun?: VisitRow[];
  changed?: VisitChange[];
  end?: RunEnd;
  rest?: RunRest;
}

/** A visit that begins, or a node that is skipped (which begins and ends at once). */
export interface VisitRow {
  sortOrder: number;
  visitUuid: string;
  nodeId: string;
  nodeType: NodeType | 'planner';
  iterSeq: number;
  status: 'RUNNING' | 'SKIPPED' | 'SUCCESS';
  predecessors: readonly string[];
  skippedBecause: readonly string[] | null;
  /** Set where a rerun takes over what an earlier run left. */
  envelope?: Envelope;
  chosenHandle?: string | null;
}

/** What a visit that has begun now is. Absent keys are null: one that runs has no end, also not an earlier attempt's. */
export interface VisitChange {
  sortOrder: number;
  status: Exclude<NodeStatus, 'PENDING' | 'SKIPPED'>;
  attempt: number;
  envelope?: Envelope;
  chosenHandle?: string | null;
  errorCode?: string | null;
  waiting?: JsonObject | null;
  tokens: number;
  toolCalls: number;
}

export interface RunEnd {
  status: 'SUCCESS' | 'FAILED';
  statusReason: RunStatusReason | null;
  error: string | null;
  errorDetail: ErrorDetail | null;
  outputs: JsonObject | null;
}

/** Everything in the run waits: its lease is given back, and it may be claimed again from `wakeAt` on. */
export interface RunRest {
  wakeAt: Date;
  /** Wake-up calls seen; if there were more by now, the run does not rest at all. */
  wakesSeen: number;
}
