import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { AISDKError, extractReasoningMiddleware, wrapLanguageModel } from 'ai';
import type { JsonValue } from '../../common/json/json-value.js';
import type { Credentials, SecretRedactor, ResolvedCredential } from '../../credentials/index.js';
import { Deadlines } from '../http-sse/deadlines.js';
import { parseJsonOr } from '../http-sse/read-body.js';
import { TransportFault } from '../http-sse/transport-fault.js';
import { DEFAULT_TIMINGS, type AdapterTimings } from '../protocol/adapter-timings.js';
import type { AgentRuntimeAdapter, PendingRuntimeCall } from '../protocol/agent-runtime-adapter.js';
import type { AgentRuntimeEvent } from '../protocol/agent-runtime-event.js';
import type { AgentRuntimeRequest } from '../protocol/agent-runtime-request.js';
import type { AgentRuntimeResponse } from '../protocol/agent-runtime-response.js';
import { composePrompt } from '../protocol/compose-prompt.js';
import { failureOf, failureOfError, RuntimeFault } from '../protocol/failure-classification.js';
import { answered, cancelled, failed, finalEvent, type CallFacts } from '../protocol/final-events.js';
import type { ProviderRef } from '../protocol/provider-ref.js';
import { refusedResponse } from '../protocol/runtime-unavailable.js';
import { sourceRuleOf } from '../protocol/source-refs.js';
import { ShownText } from '../protocol/shown-text.js';
import { structuredAnswer } from '../protocol/structured-answer.js';
import { traceHeaders } from '../protocol/trace-headers.js';
import { guardedFetch, type GuardedCall } from './guarded-fetch.js';

/** The most text an answer may have. */
const MAX_TEXT_CHARS = 16 * 1024 * 1024;

/**
 * Chat completions of New-API, or of any OpenAI-compatible gateway. A completion lives no longer than its connection
 * and has no effect but its text, so that closing the connection is its stop; and nothing can be recovered after a
 * crash.
 */
export class NewApiAdapter implements AgentRuntimeAdapter {
  readonly provider = 'new-api';

  constructor(
    private readonly credentials: Credentials,
    private readonly redactor: SecretRedactor,
    private readonly timings: AdapterTimings = DEFAULT_TIMINGS,
  ) {}

  supports(ref: ProviderRef): boolean {
    return ref.runtimeProvider === 'new-api' && ref.newApi.model !== '' && ref.newApi.credentialRef !== '';
  }

  async *execute(request: AgentRuntimeRequest, signal: AbortSignal): AsyncGenerator<AgentRuntimeEvent> {
    const { model, credentialRef } = newApiRefOf(request.agentRef.provider);
    const use = { provider: 'new-api', agentKey: request.agentRef.agentKey };
    let credential: ResolvedCredential;
    try {
      credential = await this.credentials.resolve(credentialRef, use);
    } catch (error) {
      yield finalEvent(refusedResponse('new-api', failureOfError(error)));
      return;
    }
    const startedAt = performance.now();
    const { totalSeconds, idleSeconds } = request.timeoutPolicy;
    const deadlines = new Deadlines({ totalMs: totalSeconds * 1000, idleMs: idleSeconds * 1000, signal });
    const policy = { maxAttempts: request.retryPolicy.maxAttempts, backoffMs: this.timings.backoffMs };
    const call = guardedFetch(deadlines, policy);
    const facts = (): CallFacts => factsOf(call.seen, performance.now() - startedAt);
    try {
      const answer = yield* this.#stream(request, model, credential, call, deadlines.signal);
      yield finalEvent(answered(sourceRuleOf(request), facts(), answer, this.redactor));
    } catch (error) {
      yield finalEvent(this.#unanswered(call.seen.fault ?? error, deadlines, facts()));
    } finally {
      deadlines.close();
    }
  }

  recover(call: PendingRuntimeCall): Promise<AgentRuntimeResponse> {
    const facts = { ...factsOf({ requestId: call.providerRequestId, usage: null }, 0), usage: null };
    const failure = failureOf('outcome_unknown', 'New-API keeps no answer that could be asked for again', {
      code: 'not_recoverable',
    });
    return Promise.resolve(failed(facts, failure, this.redactor));
  }

  /** The connection that carried the call is gone, and nobody can be asked. */
  cancel(): Promise<boolean> {
    return Promise.resolve(false);
  }

  async *#stream(
    request: AgentRuntimeRequest,
    model: string,
    credential: ResolvedCredential,
    call: GuardedCall,
    signal: AbortSignal,
  ): AsyncGenerator<AgentRuntimeEvent, Parameters<typeof answered>[2]> {
    const client = createOpenAICompatible({
      name: 'new-api',
      baseURL: credential.baseUrl,
      apiKey: credential.value,
      fetch: call.fetch,
      includeUsage: true,
    });
    // Some channels put their reasoning into the text, between <think> and </think>.
    const middleware = extractReasoningMiddleware({ tagName: 'think' });
    const { stream } = await wrapLanguageModel({ model: client.chatModel(model), middleware }).doStream({
      prompt: promptOf(request),
      responseFormat: request.outputContract.type === 'json' ? { type: 'json' } : { type: 'text' },
      headers: traceHeaders(request),
      abortSignal: signal,
    });
    yield { type: 'runtime.started', providerRequestId: call.seen.requestId };
    const shown = new ShownText(this.redactor);
    let text = '';
    let finishReason: AgentRuntimeResponse['finishReason'] = null;
    for await (const part of stream) {
      switch (part.type) {
        case 'text-delta':
          text += part.delta;
          if (text.length > MAX_TEXT_CHARS) {
            throw new TransportFault('too_large', 'the answer passes its limit of size');
          }
          yield* shown.push('text', part.delta);
          break;
        case 'reasoning-delta':
          yield* shown.push('thinking', part.delta);
          break;
        case 'tool-call':
          yield {
            type: 'runtime.tool_call',
            callId: part.toolCallId,
            tool: part.toolName,
            args: this.redactor.redactDeep(parseJsonOr(part.input, part.input) as JsonValue),
          };
          break;
        case 'finish':
          finishReason = finishReasonOf(part.finishReason.unified);
          break;
        case 'error':
          throw part.error;
        default:
          break;
      }
    }
    yield* shown.flush();
    return { output: { text, data: structuredAnswer(text, request.outputContract) }, finishReason };
  }

  #unanswered(error: unknown, deadlines: Deadlines, facts: CallFacts): AgentRuntimeResponse {
    if (deadlines.fault?.kind === 'aborted') return cancelled(facts);
    const cause = error instanceof RuntimeFault ? error : (deadlines.fault ?? error);
    // The client found what the guard let through: a tool call without a name, for one.
    const failure = AISDKError.isInstance(cause)
      ? failureOf('provider_bad_response', cause.message, { code: 'malformed' })
      : failureOfError(cause);
    return failed(facts, failure, this.redactor);
  }
}

function promptOf(request: AgentRuntimeRequest) {
  const { system, user } = composePrompt(request);
  const asked = { role: 'user' as const, content: [{ type: 'text' as const, text: user }] };
  return system === '' ? [asked] : [{ role: 'system' as const, content: system }, asked];
}

function finishReasonOf(unified: string): AgentRuntimeResponse['finishReason'] {
  switch (unified) {
    case 'length':
      return 'length';
    case 'tool-calls':
      return 'tool_call';
    case 'content-filter':
      return 'partial';
    default:
      return 'stop';
  }
}

function factsOf(seen: Pick<GuardedCall['seen'], 'requestId' | 'usage'>, durationMs: number): CallFacts {
  return {
    provider: 'new-api',
    providerRequestId: seen.requestId,
    usage: {
      promptTokens: seen.usage?.prompt_tokens ?? null,
      completionTokens: seen.usage?.completion_tokens ?? null,
      totalTokens: seen.usage?.total_tokens ?? null,
      durationMs: Math.round(durationMs),
    },
    providerKnowledge: false,
  };
}

function newApiRefOf(ref: ProviderRef) {
  if (ref.runtimeProvider !== 'new-api')
    throw new TypeError(`not a New-API reference: ${ref.runtimeProvider}`);
  return ref.newApi;
}
