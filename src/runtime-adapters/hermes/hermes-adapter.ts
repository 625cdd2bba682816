import type { BridgeFailure } from '../../bridge/protocol.js';
import type { JsonObject, JsonValue } from '../../common/json/json-value.js';
import type { SecretRedactor } from '../../credentials/index.js';
import { Deadlines } from '../http-sse/deadlines.js';
import { TransportFault } from '../http-sse/transport-fault.js';
import type { ProviderAnswer } from '../http-sse/send-to-provider.js';
import type { AgentRuntimeAdapter, PendingRuntimeCall } from '../protocol/agent-runtime-adapter.js';
import type { AgentRuntimeEvent } from '../protocol/agent-runtime-event.js';
import type { AgentRuntimeRequest } from '../protocol/agent-runtime-request.js';
import type {
  AgentRuntimeResponse,
  RuntimeFailure,
  RuntimeFailureType,
  RuntimeUsage,
} from '../protocol/agent-runtime-response.js';
import { failureOf, failureOfError, RuntimeFault } from '../protocol/failure-classification.js';
import { answered, cancelled, failed, finalEvent, type CallFacts } from '../protocol/final-events.js';
import { postAgain } from '../protocol/post-again.js';
import type { ProviderRef } from '../protocol/provider-ref.js';
import { ShownText } from '../protocol/shown-text.js';
import { sourceRuleOf } from '../protocol/source-refs.js';
import { traceHeaders } from '../protocol/trace-headers.js';
import { openRun, readRun, type BridgeSign } from './bridge-client.js';
import { BridgeUnavailableError, type BridgeSource } from './bridge-endpoint.js';
import { runBody } from './run-body.js';

/** The scripted model of the bridge (contract.md, "The demo model"). */
const DEMO_MODEL = 'demo';

/** The bridge shows a sign of life at least every 15 s; a shorter patience would give up on healthy ones. */
const LEAST_IDLE_SECONDS = 20;

/** Posts of one call while none is answered, with pauses that outlast the restart of a bridge that has just died. */
const CONNECT_ATTEMPTS = 5;

/** How long a call that the stopping server's own bridge took down waits for its caller to stop too. */
const STOPPING_MILLIS = 10_000;

/** What the bridge says without anything to show of it: the visit lives, and its context token with it (decision 23). */
const SIGN_OF_LIFE: AgentRuntimeEvent = { type: 'runtime.heartbeat' };

export interface HermesAdapterOptions {
  readonly bridge: BridgeSource;
  readonly redactor: SecretRedactor;
  readonly allowDemo: boolean;
}

/**
 * Agents in the bridge (provider `hermes`). The bridge is ours and stateless: a call that was lost did not leave
 * anything running and may be made again, so there is nothing to recover and no provider request id.
 */
export class HermesAdapter implements AgentRuntimeAdapter {
  readonly provider = 'hermes';
  readonly #options: HermesAdapterOptions;

  constructor(options: HermesAdapterOptions) {
    this.#options = options;
  }

  supports(ref: ProviderRef): boolean {
    return ref.runtimeProvider === 'hermes';
  }

  async *execute(request: AgentRuntimeRequest, signal: AbortSignal): AsyncGenerator<AgentRuntimeEvent> {
    const { redactor } = this.#options;
    const { totalSeconds, idleSeconds } = request.timeoutPolicy;
    const call = { usage: null as RuntimeUsage | null, startedAt: performance.now() };
    const shown = new ShownText(redactor);
    const deadlines = new Deadlines({
      totalMs: totalSeconds * 1000,
      idleMs: Math.max(idleSeconds, LEAST_IDLE_SECONDS) * 1000,
      signal,
    });
    try {
      const answer = await this.#open(request, deadlines.signal);
      yield { type: 'runtime.started', providerRequestId: null };
      for await (const sign of readRun(answer, deadlines)) {
        if (sign.event === 'usage') call.usage = usageOf(sign.data, call.startedAt);
        if (sign.event === 'text' || sign.event === 'thinking') {
          const deltas = shown.push(sign.event, sign.data.text);
          yield* deltas.length > 0 ? deltas : [SIGN_OF_LIFE];
          continue;
        }
        const event = this.#translate(sign, request, factsOf(call.usage));
        if ('response' in event) yield* shown.flush();
        yield event;
      }
    } catch (error) {
      if (isLost(error) && this.#options.bridge.isStopping()) await aborted(signal, STOPPING_MILLIS);
      const facts = factsOf(call.usage);
      yield finalEvent(signal.aborted ? cancelled(facts) : failed(facts, failureOfHermes(error), redactor));
    } finally {
      deadlines.close();
    }
  }

  recover(call: PendingRuntimeCall): Promise<AgentRuntimeResponse> {
    const failure = failureOf('outcome_unknown', 'the bridge keeps nothing of a call that was lost');
    const facts = { ...factsOf(null), providerRequestId: call.providerRequestId };
    return Promise.resolve(failed(facts, failure, this.#options.redactor));
  }

  /** A call ends with its connection, and this one's is gone. */
  cancel(): Promise<boolean> {
    return Promise.resolve(true);
  }

  async #open(request: AgentRuntimeRequest, signal: AbortSignal): Promise<ProviderAnswer> {
    const model = await this.#modelOf(request);
    const body = runBody(request, model);
    return postAgain(
      async () => this.#post(await this.#endpoint(signal), body, traceHeaders(request), signal),
      {
        maxAttempts: Math.max(CONNECT_ATTEMPTS, request.retryPolicy.maxAttempts),
        mayPostAgain: ({ type, retryable }) => type === 'connect_failed' && retryable,
        backoffMs: 200,
      },
      signal,
    );
  }

  /** Throws what openRun throws; of a bridge that is not reached, who it is and where that is set. */
  async #post(...call: Parameters<typeof openRun>): Promise<ProviderAnswer> {
    try {
      return await openRun(...call);
    } catch (error) {
      if (!(error instanceof TransportFault) || error.kind !== 'connect_failed') throw error;
      const message = `${this.#options.bridge.title} cannot be reached: ${error.message}`;
      throw new RuntimeFault(failureOf('connect_failed', message, { code: 'bridge_unavailable' }));
    }
  }

  async #endpoint(signal: AbortSignal): ReturnType<BridgeSource['endpoint']> {
    try {
      return await this.#options.bridge.endpoint(signal);
    } catch (error) {
      if (!(error instanceof BridgeUnavailableError)) throw error;
      throw new RuntimeFault(
        error.retryable
          ? failureOf('connect_failed', error.message, { code: 'bridge_unavailable' })
          : failureOf('runtime_unavailable', error.message, { code: 'bridge_unavailable' }),
      );
    }
  }

  async #modelOf(request: AgentRuntimeRequest): Promise<string> {
    const ref = request.agentRef.provider;
    const model = ref.runtimeProvider === 'hermes' ? ref.hermes.model : '';
    if (model === DEMO_MODEL) {
      if (this.#options.allowDemo) return model;
      throw unavailable('the demo model is refused in production', 'demo_refused');
    }
    const problem = await this.#options.bridge.problemWithModels();
    if (problem) throw unavailable(problem, 'llm_not_configured');
    return model;
  }

  #translate(
    sign: Exclude<BridgeSign, { event: 'text' | 'thinking' }>,
    request: AgentRuntimeRequest,
    facts: CallFacts,
  ): AgentRuntimeEvent {
    const { redactor } = this.#options;
    switch (sign.event) {
      case 'heartbeat':
      case 'usage':
        return SIGN_OF_LIFE;
      case 'tool_call': {
        const { call_id: callId, tool, args } = sign.data;
        return { type: 'runtime.tool_call', callId, tool, args: redactor.redactDeep(args as JsonValue) };
      }
      case 'tool_result': {
        const { call_id: callId, tool, result, error } = sign.data;
        return {
          type: 'runtime.tool_result',
          callId,
          tool,
          result: redactor.redactDeep(result as JsonValue),
          error,
        };
      }
      case 'todo_update':
        return { type: 'runtime.todo', todos: sign.data.todos as JsonValue[] };
      case 'result': {
        const { text, data, finish_reason: finishReason = 'stop' } = sign.data;
        const output = { text, data: data as JsonObject | null };
        return finalEvent(answered(sourceRuleOf(request), facts, { output, finishReason }, redactor));
      }
      case 'error':
        return finalEvent(failed(facts, failureOfBridge(sign.data), redactor));
    }
  }
}

function factsOf(usage: RuntimeUsage | null): CallFacts {
  return { provider: 'hermes', providerRequestId: null, usage, providerKnowledge: false };
}

function usageOf(
  tokens: { prompt_tokens: number; completion_tokens: number; total_tokens: number },
  startedAt: number,
): RuntimeUsage {
  return {
    promptTokens: tokens.prompt_tokens,
    completionTokens: tokens.completion_tokens,
    totalTokens: tokens.total_tokens || tokens.prompt_tokens + tokens.completion_tokens,
    durationMs: Math.round(performance.now() - startedAt),
  };
}

const FAILURE_TYPES: ReadonlySet<string> = new Set<RuntimeFailureType>([
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
]);

/** The bridge speaks in failure types; another bridge's own words are kept as the code. */
function failureOfBridge({ code, message, retryable }: BridgeFailure): RuntimeFailure {
  const type = FAILURE_TYPES.has(code)
    ? (code as RuntimeFailureType)
    : retryable
      ? 'provider_5xx'
      : 'provider_run_failed';
  return failureOf(type, message, { code, retryable });
}

function failureOfHermes(error: unknown): RuntimeFailure {
  if (error instanceof TransportFault && error.kind === 'lost') {
    return failureOf('connect_failed', 'the bridge was lost before it answered', { code: 'bridge_lost' });
  }
  return failureOfError(error);
}

function isLost(error: unknown): boolean {
  if (error instanceof TransportFault) return error.kind === 'lost' || error.kind === 'connect_failed';
  return error instanceof RuntimeFault && /^bridge_/.test(error.failure.code ?? '');
}

function unavailable(message: string, code: string): RuntimeFault {
  return new RuntimeFault(failureOf('runtime_unavailable', message, { code }));
}

function aborted(signal: AbortSignal, atMostMillis: number): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) {
      resolve();
      return;
    }
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, atMostMillis);
    signal.addEventListener('abort', done, { once: true });
  });
}
