import type { SecretRedactor } from '../../credentials/index.js';
import type { VersionPolicy } from '../permission/envelope-policy.js';
import type { PermissionEnvelope } from '../permission/permission-envelope.js';
import type { Trimmed } from '../permission/permission-gate.js';
import type { SourceSnapshot } from '../permission/source-snapshot.js';
import type { AgentRuntimeEvent } from '../protocol/agent-runtime-event.js';
import type { AgentRuntimeRequest } from '../protocol/agent-runtime-request.js';
import type { AgentRuntimeResponse } from '../protocol/agent-runtime-response.js';
import { failureOf } from '../protocol/failure-classification.js';
import { finalEvent } from '../protocol/final-events.js';
import { refusedResponse } from '../protocol/runtime-unavailable.js';
import { soundRequestId } from '../protocol/sound-answer.js';
import { acceptResponse } from './accept-response.js';
import type { CallLedger } from './call-ledger.js';
import type { RuntimeRouting } from './runtime-routing.js';

/** A request after the gate, with what it may and what it sends. */
export interface GovernedCall {
  request: AgentRuntimeRequest;
  policy: VersionPolicy;
  envelope: PermissionEnvelope | null;
  snapshot: SourceSnapshot | null;
  trimmed: Trimmed[];
  issuedAt: Date;
}

export interface SendGovernedCallOptions {
  /** How long the answer of a call is kept at the least. */
  keepOutputMillis: number;
  /** When New-API's log can first be asked what the call cost; null: never. */
  reconcileAfter: (response: AgentRuntimeResponse, agentRef: AgentRuntimeRequest['agentRef']) => Date | null;
  now: () => Date;
  /** Told of an adapter that threw, which is a defect of ours. */
  onDefect: (error: unknown) => void;
}

/** Sends a call whose intent is stored, and records what becomes of it as it becomes known. */
export class SendGovernedCall {
  constructor(
    private readonly router: Pick<RuntimeRouting, 'execute'>,
    private readonly ledger: CallLedger,
    private readonly redactor: SecretRedactor,
    private readonly options: SendGovernedCallOptions,
  ) {}

  async *execute(call: GovernedCall, signal: AbortSignal): AsyncGenerator<AgentRuntimeEvent> {
    const { request } = call;
    const limited = expiring(signal, call.envelope, this.options.now());
    const events = this.router.execute(request, limited.signal)[Symbol.asyncIterator]();
    let known: string | null = null;
    let toolCalls = 0;
    let unrecorded = true;
    try {
      for (;;) {
        const event = this.#sound(await this.#next(events, request, known));
        if (event.type === 'runtime.requested') continue;
        if (event.type === 'runtime.tool_call') toolCalls += 1;
        if (event.type === 'runtime.started') {
          known = event.providerRequestId ?? known;
          await this.#recordStart(request, event).catch((error: unknown) => {
            unrecorded = false;
            throw error;
          });
        }
        if ('response' in event) {
          unrecorded = false;
          const response = acceptResponse(request.commandId, event.response, call.policy, this.redactor);
          await this.record(request.commandId, response, toolCalls, request);
          yield finalEvent(response);
          return;
        }
        yield event;
      }
    } finally {
      // Whoever listened went away: the provider is told to stop, and what it answers is recorded.
      if (unrecorded) {
        limited.abort();
        const response = await this.#drain(events, request, known);
        await this.record(request.commandId, response, toolCalls, request);
      }
      limited.release();
      await events.return?.();
    }
  }

  /** Stores how a call ended. `request` is given where the call was sent. */
  async record(
    commandId: string,
    response: AgentRuntimeResponse,
    toolCalls: number,
    request?: Pick<AgentRuntimeRequest, 'agentRef' | 'auditPolicy'>,
  ): Promise<void> {
    const now = this.options.now();
    const { reconcileAfter, keepOutputMillis } = this.options;
    const mayKeepSummary = request?.auditPolicy.level !== 'none';
    await this.ledger.ended({
      commandId,
      response: mayKeepSummary ? response : { ...response, outputSummary: '' },
      toolCalls,
      reconcileAfter: (request && reconcileAfter(response, request.agentRef)?.toISOString()) ?? null,
      keepOutputUntil: new Date(now.getTime() + keepOutputMillis).toISOString(),
      at: now.toISOString(),
    });
  }

  async #drain(
    events: AsyncIterator<AgentRuntimeEvent>,
    request: AgentRuntimeRequest,
    known: string | null,
  ): Promise<AgentRuntimeResponse> {
    for (;;) {
      const event = await this.#next(events, request, known);
      if ('response' in event) return { ...event.response, output: null, outputPayloadRef: null };
    }
  }

  /** The next event; an adapter that throws or ends without its last event leaves the outcome unknown. */
  async #next(
    events: AsyncIterator<AgentRuntimeEvent>,
    request: AgentRuntimeRequest,
    known: string | null,
  ): Promise<AgentRuntimeEvent> {
    try {
      const next = await events.next();
      if (!next.done) return next.value;
      this.options.onDefect(new Error('the runtime adapter ended without a last event'));
    } catch (error) {
      this.options.onDefect(error);
    }
    return finalEvent(unknownEnd(request, known, 'the runtime adapter failed'));
  }

  /** What a provider calls its calls and tools, and what it tells of them, may repeat a secret to us. */
  #sound(event: AgentRuntimeEvent): AgentRuntimeEvent {
    switch (event.type) {
      case 'runtime.started': {
        const { providerRequestId, recovery } = event;
        return {
          ...event,
          providerRequestId: soundRequestId(providerRequestId, this.redactor),
          ...(recovery ? { recovery: this.redactor.redactDeep(recovery) } : {}),
        };
      }
      case 'runtime.tool_call':
      case 'runtime.tool_result':
      case 'runtime.todo':
        return this.redactor.redactDeep(event);
      default:
        return event;
    }
  }

  /** Our own bridge is executed again after a crash, so its start needs no record of its own. */
  async #recordStart(
    { commandId, agentRef }: AgentRuntimeRequest,
    event: Extract<AgentRuntimeEvent, { type: 'runtime.started' }>,
  ): Promise<void> {
    if (agentRef.provider.runtimeProvider === 'hermes') return;
    const { providerRequestId, recovery = null } = event;
    await this.ledger.started({
      commandId,
      providerRequestId,
      recovery,
      at: this.options.now().toISOString(),
    });
  }
}

function unknownEnd(request: AgentRuntimeRequest, known: string | null, why: string): AgentRuntimeResponse {
  const { runtimeProvider } = request.agentRef.provider;
  return { ...refusedResponse(runtimeProvider, failureOf('outcome_unknown', why)), providerRequestId: known };
}

/** Aborts with `signal`, and at the latest when the envelope expires. */
function expiring(
  signal: AbortSignal,
  envelope: PermissionEnvelope | null,
  now: Date,
): { signal: AbortSignal; abort: () => void; release: () => void } {
  const controller = new AbortController();
  const abort = (): void => controller.abort(signal.reason ?? new Error('the call was given up'));
  if (signal.aborted) abort();
  signal.addEventListener('abort', abort, { once: true });
  const left = envelope ? Date.parse(envelope.expiresAt) - now.getTime() : null;
  const expire = (): void => controller.abort(new Error('the permission envelope has expired'));
  const timer = left === null ? null : setTimeout(expire, Math.min(left, MAX_TIMER_MILLIS)).unref();
  return {
    signal: controller.signal,
    abort,
    release: () => {
      signal.removeEventListener('abort', abort);
      if (timer) clearTimeout(timer);
    },
  };
}

const MAX_TIMER_MILLIS = 2 ** 31 - 1;
