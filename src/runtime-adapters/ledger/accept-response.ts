import type { SecretRedactor } from '../../credentials/index.js';
import type { VersionPolicy } from '../permission/envelope-policy.js';
import type { AgentRuntimeResponse, RuntimeFailure } from '../protocol/agent-runtime-response.js';
import { failureOf } from '../protocol/failure-classification.js';
import { redactedMessage } from '../protocol/redacted-message.js';
import { soundRequestId, soundUsage } from '../protocol/sound-answer.js';
import { outputPayloadRef } from './stored-response.js';

const SUMMARY_CHARS = 500;

/**
 * What we make of a provider's response: its success does not stand where the version asks for more than it gave
 * (sources, budget), its figures and its id count only where they can be ones, and nothing that was said is kept or
 * passed on with a secret in it. Without a policy nothing but the last.
 */
export function acceptResponse(
  commandId: string,
  told: AgentRuntimeResponse,
  policy: VersionPolicy | null,
  redactor: SecretRedactor,
): AgentRuntimeResponse {
  const response = {
    ...told,
    usage: soundUsage(told.usage),
    providerRequestId: soundRequestId(told.providerRequestId, redactor),
  };
  const refused = policy && response.status === 'succeeded' ? whyRefused(response, policy) : null;
  if (refused) {
    return {
      ...response,
      status: 'failed',
      output: null,
      outputSummary: '',
      outputPayloadRef: null,
      finishReason: 'error',
      failure: refused,
    };
  }
  const { output, failure } = response;
  return {
    ...response,
    outputSummary: redactor.redact(response.outputSummary).slice(0, 2 * SUMMARY_CHARS),
    output: output && {
      text: redactor.redact(output.text),
      data: output.data && redactor.redactDeep(output.data),
    },
    outputPayloadRef: output && outputPayloadRef(commandId),
    failure: failure && {
      ...failure,
      code: failure.code && redactedMessage(failure.code, redactor),
      message: redactedMessage(failure.message, redactor),
    },
  };
}

function whyRefused(
  { usage, traceability }: AgentRuntimeResponse,
  { budgetTokens, requireSourceRefs }: VersionPolicy,
): RuntimeFailure | null {
  const used = usage?.totalTokens ?? (usage?.promptTokens ?? 0) + (usage?.completionTokens ?? 0);
  if (budgetTokens !== null && used > budgetTokens) {
    return failureOf('quota_exceeded', `the call used ${used} tokens, its budget is ${budgetTokens}`, {
      code: 'agent_budget',
    });
  }
  if (requireSourceRefs && traceability !== 'muse_source_refs') {
    return failureOf('provider_bad_response', 'source references are required and were not given', {
      code: 'source_refs_missing',
    });
  }
  return null;
}
