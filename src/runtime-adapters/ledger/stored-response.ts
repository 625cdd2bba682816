import type {
  AgentRuntimeResponse,
  RuntimeOutput,
  RuntimeUsage,
} from '../protocol/agent-runtime-response.js';
import type { RuntimeCallEntity } from './runtime-call.entity.js';

/** Where the answer of a call lies while it is kept. */
export function outputPayloadRef(commandId: string): string {
  return `runtime-call:${commandId}`;
}

/** The response of a call that has ended, as its first caller got it. */
export function storedResponse(call: RuntimeCallEntity, output: RuntimeOutput | null): AgentRuntimeResponse {
  return {
    status: statusOf(call),
    outputSummary: call.outputSummary ?? '',
    output,
    outputPayloadRef: output && outputPayloadRef(call.commandId),
    providerRequestId: call.providerRequestId,
    provider: call.provider,
    usage: usageOf(call),
    traceability: call.traceability ?? 'none',
    finishReason: call.finishReason,
    failure: call.failure,
  };
}

/** Null where the provider told no tokens and no cost. */
export function usageOf(call: RuntimeCallEntity): RuntimeUsage | null {
  const { promptTokens, completionTokens, totalTokens, costAmount, costCurrency } = call;
  if (promptTokens === null && completionTokens === null && totalTokens === null && costAmount === null)
    return null;
  return {
    promptTokens: number(promptTokens),
    completionTokens: number(completionTokens),
    totalTokens: number(totalTokens),
    durationMs: number(call.durationMs) ?? 0,
    ...(costAmount !== null && costCurrency !== null
      ? { cost: { amount: costAmount, currency: costCurrency } }
      : {}),
  };
}

function statusOf({ status, failure }: RuntimeCallEntity): AgentRuntimeResponse['status'] {
  if (status === 'SUCCEEDED') return 'succeeded';
  if (status === 'CANCELLED') return 'cancelled';
  return failure?.retryable ? 'retryable_failed' : 'failed';
}

function number(text: string | null): number | null {
  return text === null ? null : Number(text);
}
