import type { PendingRuntimeCall } from '../protocol/agent-runtime-adapter.js';
import type { AgentRuntimeEvent } from '../protocol/agent-runtime-event.js';
import type { AgentRuntimeRequest } from '../protocol/agent-runtime-request.js';
import type { AgentRuntimeResponse } from '../protocol/agent-runtime-response.js';

/** Executes, recovers and stops calls by their provider; AgentRuntimeRouter is it. */
export interface RuntimeRouting {
  execute(request: AgentRuntimeRequest, signal: AbortSignal): AsyncIterable<AgentRuntimeEvent>;
  recover(call: PendingRuntimeCall, signal: AbortSignal): Promise<AgentRuntimeResponse>;
  cancel(call: PendingRuntimeCall): Promise<boolean>;
}
