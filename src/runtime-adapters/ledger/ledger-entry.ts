import type { PermissionEnvelope } from '../permission/permission-envelope.js';
import type { Trimmed } from '../permission/permission-gate.js';
import type { SourceSnapshot } from '../permission/source-snapshot.js';
import type { AgentRuntimeRequest } from '../protocol/agent-runtime-request.js';
import type { AgentRuntimeResponse } from '../protocol/agent-runtime-response.js';

/** The intent to call, stored before the first byte goes out. */
export interface RequestedCall {
  kind: 'requested';
  commandId: string;
  requestDigest: string;
  agentRef: AgentRuntimeRequest['agentRef'];
  runId: string | null;
  visitUuid: string | null;
  correlationId: string;
  actor: AgentRuntimeRequest['actor'];
  scenario: string;
  /** Null where the call is refused before there is anything to allow. */
  envelope: PermissionEnvelope | null;
  trimmed: Trimmed[];
  snapshot: SourceSnapshot | null;
  owner: string;
  /** ISO-8601 UTC, as all times here. */
  at: string;
  deadlineAt: string;
}

/** The provider has accepted the call; comes again where more became known. */
export interface StartedCall {
  kind: 'started';
  commandId: string;
  providerRequestId: string | null;
  recovery: Record<string, string> | null;
  at: string;
}

export interface EndedCall {
  kind: 'ended';
  commandId: string;
  response: AgentRuntimeResponse;
  toolCalls: number;
  /** Set where New-API's log can be asked what the call cost. */
  reconcileAfter: string | null;
  /** Until when the answer is kept at the least. */
  keepOutputUntil: string;
  at: string;
}

export type LedgerEntry = RequestedCall | StartedCall | EndedCall;
