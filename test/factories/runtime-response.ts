import type { AgentRuntimeResponse } from '../../src/runtime-adapters/protocol/agent-runtime-response.js';

/** A success of New-API. */
export function runtimeResponse(more: Partial<AgentRuntimeResponse> = {}): AgentRuntimeResponse {
  return {
    status: 'succeeded',
    outputSummary: 'the answer',
    output: { text: 'the answer', data: null },
    outputPayloadRef: null,
    providerRequestId: 'req-1',
    provider: 'new-api',
    usage: { promptTokens: 7, completionTokens: 5, totalTokens: 12, durationMs: 40 },
    traceability: 'none',
    finishReason: 'stop',
    failure: null,
    ...more,
  };
}
