import type { Credentials, ResolvedCredential, SecretRedactor } from '../../credentials/index.js';
import { Deadlines } from '../http-sse/deadlines.js';
import { TransportFault } from '../http-sse/transport-fault.js';
import { DEFAULT_TIMINGS, type AdapterTimings } from '../protocol/adapter-timings.js';
import type { AgentRuntimeAdapter, PendingRuntimeCall } from '../protocol/agent-runtime-adapter.js';
import type { AgentRuntimeEvent } from '../protocol/agent-runtime-event.js';
import type { AgentRuntimeRequest, OutputContract } from '../protocol/agent-runtime-request.js';
import type { AgentRuntimeResponse, RuntimeFailure } from '../protocol/agent-runtime-response.js';
import { failureOf, failureOfError } from '../protocol/failure-classification.js';
import { failed, finalEvent } from '../protocol/final-events.js';
import type { ProviderRef } from '../protocol/provider-ref.js';
import { refusedResponse } from '../protocol/runtime-unavailable.js';
import { DifyAnswer } from './dify-answer.js';
import { DifyCall, difyFacts, difyResponse } from './dify-call.js';
import { DifyClient } from './dify-client.js';
import { recoverByPolling, unknownOutcome } from './dify-recovery.js';
import { difyTraceHeaders, type DifyRef } from './dify-request.js';
import { stopPathOf } from './dify-stop.js';

/** Dify's agent, chat and workflow apps (agent-runtime-protocol.md §5.2). */
export class DifyAdapter implements AgentRuntimeAdapter {
  readonly provider = 'dify';

  constructor(
    private readonly credentials: Credentials,
    private readonly redactor: SecretRedactor,
    private readonly timings: AdapterTimings = DEFAULT_TIMINGS,
  ) {}

  /** The key decides which app answers; a reference that names none is incomplete all the same (§9). */
  supports(ref: ProviderRef): boolean {
    if (ref.runtimeProvider !== 'dify' || ref.dify.credentialRef === '') return false;
    const { appType, appId, workflowId } = ref.dify;
    return Boolean(appType === 'workflow' ? (workflowId ?? appId) : appId);
  }

  async *execute(request: AgentRuntimeRequest, signal: AbortSignal): AsyncGenerator<AgentRuntimeEvent> {
    const ref = difyRefOf(request.agentRef.provider);
    let call: DifyCall;
    try {
      const credential = await this.#credentialOf(ref, request.agentRef.agentKey);
      const deps = { redactor: this.redactor, timings: this.timings };
      call = new DifyCall(request, ref, credential, deps, signal);
    } catch (error) {
      yield finalEvent(refusedResponse('dify', failureOfError(error)));
      return;
    }
    yield finalEvent(yield* call.run());
  }

  async recover(call: PendingRuntimeCall, signal: AbortSignal): Promise<AgentRuntimeResponse> {
    const startedAt = performance.now();
    const answer = this.#answerOf(call);
    const { pollMs, recoverMs } = this.timings;
    // Polling ends by itself; the deadline is for an answer that does not come.
    const deadlines = new Deadlines({ totalMs: 2 * recoverMs, idleMs: 2 * recoverMs, signal });
    let failure: RuntimeFailure | null;
    try {
      const client = await this.#clientOf(call);
      failure = await recoverByPolling(client, answer, {
        user: call.recovery.user ?? '',
        pollMs,
        forMs: recoverMs,
        signal: deadlines.signal,
      });
    } catch (error) {
      failure = this.#notRecovered(error);
    } finally {
      deadlines.close();
    }
    const facts = {
      ...difyFacts(answer, performance.now() - startedAt),
      providerRequestId: call.providerRequestId,
    };
    if (failure ?? !answer.end) {
      return failed(facts, failure ?? unknownOutcome('Dify does not tell', 'no_end'), this.redactor);
    }
    // What was sent is not known any more, so that no source can be proved: required ones fail closed.
    const rule = { required: call.recovery.sourceRefs === 'required', sent: new Set<string>() };
    return difyResponse(rule, facts, answer.end, this.redactor);
  }

  async cancel(call: PendingRuntimeCall): Promise<boolean> {
    const { taskId, user } = call.recovery;
    if (!taskId || !user) return false;
    const answer = this.#answerOf(call);
    const { stopMs, pollMs } = this.timings;
    const deadlines = new Deadlines({
      totalMs: stopMs,
      idleMs: stopMs,
      signal: new AbortController().signal,
    });
    try {
      const client = await this.#clientOf(call);
      const stopped = await client.post(
        stopPathOf(difyRefOf(call.provider), taskId),
        { user },
        deadlines.signal,
      );
      stopped.close();
      await recoverByPolling(client, answer, { user, pollMs, forMs: stopMs, signal: deadlines.signal });
      return answer.end !== null;
    } catch (error) {
      failureOfError(error);
      return false;
    } finally {
      deadlines.close();
    }
  }

  #notRecovered(error: unknown): RuntimeFailure {
    if (error instanceof TransportFault) return unknownOutcome(error.message, error.kind);
    const failure = failureOfError(error);
    return failureOf('outcome_unknown', failure.message, { code: failure.code });
  }

  #answerOf(call: PendingRuntimeCall): DifyAnswer {
    const contract: OutputContract = { type: call.recovery.output === 'json' ? 'json' : 'text' };
    const ref = difyRefOf(call.provider);
    const answer = new DifyAnswer(ref, contract, this.redactor);
    const { taskId, messageId, conversationId, workflowRunId } = call.recovery;
    const own = call.providerRequestId ?? undefined;
    const ids = answer.isWorkflowApp
      ? { taskId, messageId, conversationId, workflowRunId: own ?? workflowRunId }
      : { taskId, messageId: own ?? messageId, conversationId, workflowRunId };
    Object.assign(answer.ids, ids);
    return answer;
  }

  async #clientOf(call: PendingRuntimeCall): Promise<DifyClient> {
    const credential = await this.#credentialOf(
      difyRefOf(call.provider),
      call.agentKey ?? call.recovery.agentKey ?? null,
    );
    return new DifyClient(credential, difyTraceHeaders(call));
  }

  #credentialOf(ref: DifyRef, agentKey: string | null): Promise<ResolvedCredential> {
    return this.credentials.resolve(ref.credentialRef, { provider: 'dify', agentKey });
  }
}

function difyRefOf(ref: ProviderRef): DifyRef {
  if (ref.runtimeProvider !== 'dify') throw new TypeError(`not a Dify reference: ${ref.runtimeProvider}`);
  return ref.dify;
}
