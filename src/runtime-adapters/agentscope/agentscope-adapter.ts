import type { Credentials, SecretRedactor, ResolvedCredential } from '../../credentials/index.js';
import { Deadlines } from '../http-sse/deadlines.js';
import { parseJsonOr } from '../http-sse/read-body.js';
import { readEvents } from '../http-sse/read-events.js';
import { TransportFault } from '../http-sse/transport-fault.js';
import { DEFAULT_TIMINGS, type AdapterTimings } from '../protocol/adapter-timings.js';
import type { AgentRuntimeAdapter, PendingRuntimeCall } from '../protocol/agent-runtime-adapter.js';
import type { AgentRuntimeEvent } from '../protocol/agent-runtime-event.js';
import type { AgentRuntimeRequest } from '../protocol/agent-runtime-request.js';
import type { AgentRuntimeResponse, RuntimeFailure } from '../protocol/agent-runtime-response.js';
import { failureOf, failureOfError } from '../protocol/failure-classification.js';
import { failed, finalEvent } from '../protocol/final-events.js';
import type { ProviderRef } from '../protocol/provider-ref.js';
import { pseudonym } from '../protocol/pseudonym.js';
import { refusedResponse } from '../protocol/runtime-unavailable.js';
import { traceHeaders } from '../protocol/trace-headers.js';
import { AgentScopeClient } from './agentscope-client.js';
import { agentScopeRefOf, type AgentScopeRef } from './agentscope-request.js';
import { callProcess } from './process-call.js';
import { SessionAnswer } from './session-answer.js';
import { interrupt, SessionCall, sessionFacts, sessionPath, sessionResponse } from './session-call.js';
import { sessionEventOf } from './session-frames.js';

/** AgentScope: Runtime 1.1 by default, the sessions of 2.0 where the reference says `protocolVersion: 2` (§5.3). */
export class AgentScopeAdapter implements AgentRuntimeAdapter {
  readonly provider = 'agentscope';

  constructor(
    private readonly credentials: Credentials,
    private readonly redactor: SecretRedactor,
    private readonly timings: AdapterTimings = DEFAULT_TIMINGS,
  ) {}

  supports(ref: ProviderRef): boolean {
    if (ref.runtimeProvider !== 'agentscope' || ref.agentscope.credentialRef === '') return false;
    return ref.agentscope.protocolVersion !== 2 || Boolean(ref.agentscope.agentId);
  }

  async *execute(request: AgentRuntimeRequest, signal: AbortSignal): AsyncGenerator<AgentRuntimeEvent> {
    const ref = agentScopeRefOf(request.agentRef.provider);
    let client: AgentScopeClient;
    try {
      const user = pseudonym(request.actor);
      client = await this.#clientOf(ref, request, user, request.agentRef.agentKey);
    } catch (error) {
      yield finalEvent(refusedResponse('agentscope', failureOfError(error)));
      return;
    }
    const { totalSeconds, idleSeconds } = request.timeoutPolicy;
    const deadlines = new Deadlines({ totalMs: totalSeconds * 1000, idleMs: idleSeconds * 1000, signal });
    const deps = { client, deadlines, redactor: this.redactor, timings: this.timings };
    try {
      const isSession = ref.protocolVersion === 2;
      const call = isSession
        ? new SessionCall(request, ref.agentId ?? '', deps).run()
        : callProcess(request, ref, deps);
      yield finalEvent(yield* call);
    } finally {
      deadlines.close();
    }
  }

  /** A run of Runtime 1.1 is gone with its connection; a session of 2.0 replays it. */
  async recover(call: PendingRuntimeCall, signal: AbortSignal): Promise<AgentRuntimeResponse> {
    const startedAt = performance.now();
    const answer = new SessionAnswer(
      { type: call.recovery.output === 'json' ? 'json' : 'text' },
      this.redactor,
    );
    const failure = await this.#followSession(call, answer, { signal, forMs: this.timings.recoverMs });
    const facts = sessionFacts(answer, call.providerRequestId, performance.now() - startedAt);
    if (failure && !answer.end) return failed(facts, failure, this.redactor);
    const rule = { required: call.recovery.sourceRefs === 'required', sent: new Set<string>() };
    return sessionResponse(rule, facts, answer.end, { redactor: this.redactor });
  }

  async cancel(call: PendingRuntimeCall): Promise<boolean> {
    const answer = new SessionAnswer({ type: 'text' }, this.redactor);
    const signal = new AbortController().signal;
    await this.#followSession(call, answer, { signal, forMs: this.timings.stopMs, interruptFirst: true });
    return answer.end !== null;
  }

  /** Reads a session's replay and what follows until the reply ends; the failure says why it was not seen. */
  async #followSession(
    call: PendingRuntimeCall,
    answer: SessionAnswer,
    options: { signal: AbortSignal; forMs: number; interruptFirst?: boolean },
  ): Promise<RuntimeFailure | null> {
    const { agentId, user } = call.recovery;
    if (!call.providerRequestId || !agentId || !user) {
      return failureOf('outcome_unknown', 'AgentScope Runtime keeps no run that could be asked for again', {
        code: 'not_recoverable',
      });
    }
    const { signal, forMs } = options;
    const deadlines = new Deadlines({ totalMs: forMs, idleMs: forMs, signal });
    try {
      const ref = agentScopeRefOf(call.provider);
      const client = await this.#clientOf(ref, call, user, call.agentKey ?? call.recovery.agentKey ?? null);
      if (options.interruptFirst) {
        const path = sessionPath(call.providerRequestId, 'interrupt', agentId);
        await interrupt({ client }, path, call.providerRequestId, deadlines.signal);
      }
      const path = sessionPath(call.providerRequestId, 'stream', agentId);
      const stream = await client.send('GET', path, undefined, deadlines.signal);
      for await (const item of readEvents(stream, deadlines)) {
        const event = item.kind === 'frame' ? sessionEventOf(parseJsonOr(item.data, undefined)) : null;
        if (event) answer.accept(event);
        if (answer.end) return null;
      }
      return failureOf('outcome_unknown', 'the stream of the session ended before the reply did', {
        code: 'no_end',
      });
    } catch (error) {
      const failure = failureOfError(error);
      const why =
        error instanceof TransportFault && error.kind === 'deadline' ? 'it still runs' : failure.message;
      return failureOf('outcome_unknown', `how the run in AgentScope ended is unknown: ${why}`, {
        code: failure.code,
      });
    } finally {
      deadlines.close();
    }
  }

  async #clientOf(
    ref: AgentScopeRef,
    ids: { commandId: string; correlationId: string },
    user: string,
    agentKey: string | null,
  ): Promise<AgentScopeClient> {
    const use = { provider: 'agentscope', agentKey };
    const credential: ResolvedCredential = await this.credentials.resolve(ref.credentialRef, use);
    const headers = { ...traceHeaders(ids), ...(ref.protocolVersion === 2 ? { 'x-user-id': user } : {}) };
    return new AgentScopeClient(credential, headers);
  }
}
