import type { AgentRuntimeResponse } from '../protocol/agent-runtime-response.js';
import type { RuntimeProvider } from '../protocol/provider-ref.js';

/** Where a call stands. `UNKNOWN`: it was sent and nobody can say how it ended. */
export type CallStatus = 'REQUESTED' | 'STARTED' | 'SUCCEEDED' | 'FAILED' | 'CANCELLED' | 'UNKNOWN';

export const CALL_STATUSES = ['REQUESTED', 'STARTED', 'SUCCEEDED', 'FAILED', 'CANCELLED', 'UNKNOWN'] as const;

/** A call whose end has not been seen. */
export function isOpen(status: CallStatus): status is 'REQUESTED' | 'STARTED' {
  return status === 'REQUESTED' || status === 'STARTED';
}

export function statusOf(response: AgentRuntimeResponse): Exclude<CallStatus, 'REQUESTED' | 'STARTED'> {
  switch (response.status) {
    case 'succeeded':
      return 'SUCCEEDED';
    case 'cancelled':
      return 'CANCELLED';
    case 'failed':
    case 'retryable_failed':
      return response.failure?.type === 'outcome_unknown' ? 'UNKNOWN' : 'FAILED';
  }
}

/** Whether the usage can be charged to somebody (agent-runtime-protocol.md §8). */
export type Attribution = 'attributed' | 'unattributed';

/** Only a request id of New-API attributes usage; what another provider says of its usage is no account. */
export function attributionOf(provider: RuntimeProvider, providerRequestId: string | null): Attribution {
  return provider === 'new-api' && providerRequestId !== null ? 'attributed' : 'unattributed';
}
