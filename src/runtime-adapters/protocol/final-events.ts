import type { SecretRedactor } from '../../credentials/index.js';
import type { AgentRuntimeEvent } from './agent-runtime-event.js';
import type {
  AgentRuntimeResponse,
  RuntimeFailure,
  RuntimeOutput,
  RuntimeUsage,
} from './agent-runtime-response.js';
import { failureOf } from './failure-classification.js';
import type { RuntimeProvider } from './provider-ref.js';
import { redactedMessage } from './redacted-message.js';
import { traceabilityOf, type SourceRule } from './source-refs.js';

const SUMMARY_CHARS = 500;

/** What an adapter knows of a call whether it ended well or not. */
export interface CallFacts {
  readonly provider: RuntimeProvider;
  readonly providerRequestId: string | null;
  readonly usage: RuntimeUsage | null;
  /** The provider's own knowledge took part, or may have. */
  readonly providerKnowledge: boolean;
}

/** The response to an answer; a failure where sources are required and not proved (§7). */
export function answered(
  rule: SourceRule,
  facts: CallFacts,
  answer: { output: RuntimeOutput; finishReason: AgentRuntimeResponse['finishReason'] },
  redactor: SecretRedactor,
): AgentRuntimeResponse {
  const { text, data } = answer.output;
  const output = { text: redactor.redact(text), data: data && redactor.redactDeep(data) };
  const traceability = traceabilityOf(rule, output, facts.providerKnowledge);
  if (rule.required && traceability !== 'muse_source_refs') {
    const why =
      traceability === 'none'
        ? 'the answer names no source that was sent, or one that was not'
        : 'knowledge of the provider took part, which cannot be traced';
    const failure = failureOf('provider_bad_response', `source references are required: ${why}`, {
      code: 'source_refs_missing',
    });
    return { ...failed(facts, failure, redactor), traceability };
  }
  return {
    ...blank(facts),
    status: 'succeeded',
    outputSummary: summaryOf(output.text),
    output,
    traceability,
    finishReason: answer.finishReason,
  };
}

export function failed(
  facts: CallFacts,
  failure: RuntimeFailure,
  redactor: SecretRedactor,
): AgentRuntimeResponse {
  return {
    ...blank(facts),
    status: failure.retryable ? 'retryable_failed' : 'failed',
    traceability: facts.providerKnowledge ? 'untraceable_provider_context' : 'none',
    finishReason: 'error',
    failure: {
      ...failure,
      code: failure.code === null ? null : redactedMessage(failure.code, redactor).slice(0, 100),
      message: redactedMessage(failure.message, redactor),
    },
  };
}

/** Only once the provider no longer works on the call, or never began. */
export function cancelled(facts: CallFacts): AgentRuntimeResponse {
  return {
    ...blank(facts),
    status: 'cancelled',
    traceability: facts.providerKnowledge ? 'untraceable_provider_context' : 'none',
    finishReason: 'cancelled',
  };
}

/** The event that ends a call with this response. */
export function finalEvent(response: AgentRuntimeResponse): AgentRuntimeEvent {
  switch (response.status) {
    case 'succeeded':
      return { type: 'runtime.completed', response };
    case 'cancelled':
      return { type: 'runtime.cancelled', response };
    case 'failed':
    case 'retryable_failed':
      return { type: 'runtime.failed', response };
  }
}

function blank(facts: CallFacts): AgentRuntimeResponse {
  return {
    status: 'failed',
    outputSummary: '',
    output: null,
    outputPayloadRef: null,
    providerRequestId: facts.providerRequestId,
    provider: facts.provider,
    usage: facts.usage,
    traceability: 'none',
    finishReason: null,
    failure: null,
  };
}

function summaryOf(text: string): string {
  const characters = [...text.slice(0, 2 * SUMMARY_CHARS)];
  return characters.length > SUMMARY_CHARS || text.length > 2 * SUMMARY_CHARS
    ? `${characters.slice(0, SUMMARY_CHARS - 1).join('')}…`
    : text;
}
