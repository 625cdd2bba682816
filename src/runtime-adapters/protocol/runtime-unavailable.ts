import type { AgentRuntimeEvent } from './agent-runtime-event.js';
import type { AgentRuntimeResponse, RuntimeFailure } from './agent-runtime-response.js';
import { failureOf } from './failure-classification.js';
import type { RuntimeProvider } from './provider-ref.js';

/** Fails closed: nothing was sent, and no other provider is asked. */
export function runtimeUnavailable(provider: RuntimeProvider): AgentRuntimeEvent {
  const failure = failureOf(
    'runtime_unavailable',
    `the runtime ${provider} is not configured, or the reference to it is incomplete`,
  );
  return { type: 'runtime.failed', response: refusedResponse(provider, failure) };
}

/** The response of a call of which not a byte was sent. */
export function refusedResponse(provider: RuntimeProvider, failure: RuntimeFailure): AgentRuntimeResponse {
  return {
    status: 'failed',
    outputSummary: '',
    output: null,
    outputPayloadRef: null,
    providerRequestId: null,
    provider,
    usage: null,
    traceability: 'none',
    finishReason: 'error',
    failure,
  };
}
