import type { AgentRuntimeEvent } from './agent-runtime-event.js';
import type { AgentRuntimeRequest } from './agent-runtime-request.js';
import type { AgentRuntimeResponse } from './agent-runtime-response.js';
import type { ProviderRef, RuntimeProvider } from './provider-ref.js';

/** A call that was sent and whose end nobody saw. */
export interface PendingRuntimeCall {
  commandId: string;
  correlationId: string;
  provider: ProviderRef;
  providerRequestId: string | null;
  /** Whose credential scope holds; null for an inline node. */
  agentKey?: string | null;
  /** What the adapter itself noted to find the call again (a task id, a conversation id). */
  recovery: Record<string, string>;
}

/** Translates the protocol for one provider; owns no business state (agent-runtime-protocol.md §5.1). */
export interface AgentRuntimeAdapter {
  readonly provider: RuntimeProvider;
  supports(ref: ProviderRef): boolean;
  /**
   * Sends the request once and reports until its end; never throws for a provider's failure, which is the last
   * event. Aborting `signal` stops the provider's work and ends with `runtime.cancelled`, or with
   * `outcome_unknown` where the provider does not confirm the stop.
   */
  execute(request: AgentRuntimeRequest, signal: AbortSignal): AsyncIterable<AgentRuntimeEvent>;
  /** Finds out how a sent call ended, by polling only; never sends it again. */
  recover(call: PendingRuntimeCall, signal: AbortSignal): Promise<AgentRuntimeResponse>;
  /** Stops a call; true once the provider confirms that it no longer runs. */
  cancel(call: PendingRuntimeCall): Promise<boolean>;
}
