import type { JsonObject } from '../../common/json/json-value.js';
import type { RuntimeProvider } from './provider-ref.js';

/** How a call ended, normalised over all providers (agent-runtime-protocol.md §4.2). */
export interface AgentRuntimeResponse {
  status: 'succeeded' | 'failed' | 'retryable_failed' | 'cancelled';
  /** Fit to show; never the provider's raw answer. */
  outputSummary: string;
  /** The answer itself, for the caller that waits; held in memory only. Null unless it succeeded. */
  output: RuntimeOutput | null;
  outputPayloadRef: string | null;
  providerRequestId: string | null;
  provider: RuntimeProvider;
  usage: RuntimeUsage | null;
  traceability: 'muse_source_refs' | 'untraceable_provider_context' | 'none';
  finishReason: 'stop' | 'length' | 'tool_call' | 'partial' | 'error' | 'cancelled' | null;
  failure: RuntimeFailure | null;
}

export interface RuntimeOutput {
  text: string;
  /** The keys of a structured answer; null where the answer is text only. */
  data: JsonObject | null;
}

export interface RuntimeUsage {
  promptTokens: number | null;
  completionTokens: number | null;
  totalTokens: number | null;
  durationMs: number;
  /** A decimal string with its currency, as the provider reports it. */
  cost?: { amount: string; currency: string };
}

/** §4.2, with the three added by contract.md at the end; docs/agent-runtimes.md explains each. */
export const RUNTIME_FAILURE_TYPES = [
  'auth_failed',
  'permission_denied',
  'provider_bad_request',
  'provider_bad_response',
  'network_timeout',
  'connect_failed',
  'rate_limited',
  'provider_5xx',
  'runtime_unavailable',
  'provider_run_failed',
  'quota_exceeded',
  'outcome_unknown',
] as const;
export type RuntimeFailureType = (typeof RUNTIME_FAILURE_TYPES)[number];

export interface RuntimeFailure {
  type: RuntimeFailureType;
  code: string | null;
  httpStatus: number | null;
  retryable: boolean;
  /** Redacted. */
  message: string;
}
