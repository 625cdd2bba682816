import type { AgentRuntimeEvent } from './agent-runtime-event.js';
import type { RuntimeProvider } from './provider-ref.js';

/** Fails closed: nothing was sent, and no other provider is asked. */
export function runtimeUnavailable(provider: RuntimeProvider): AgentRuntimeEvent {
  return {
    type: 'runtime.failed',
    response: {
      status: 'failed',
      outputSummary: '',
      output: null,
      outputPayloadRef: null,
      providerRequestId: null,
      provider,
      usage: null,
      traceability: 'none',
      finishReason: 'error',
      failure: {
        type: 'runtime_unavailable',
        code: null,
        httpStatus: null,
        retryable: false,
        message: `the runtime ${provider} is not configured`,
      },
    },
  };
}
