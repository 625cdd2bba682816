import type { ResolvedCredential, SecretRedactor } from '../../credentials/index.js';
import { Deadlines } from '../http-sse/deadlines.js';
import { orAborted, PatientReader } from '../http-sse/patient-reader.js';
import { parseJsonOr, readJson } from '../http-sse/read-body.js';
import { readEvents, type StreamItem } from '../http-sse/read-events.js';
import type { ProviderAnswer } from '../http-sse/send-to-provider.js';
import { TransportFault } from '../http-sse/transport-fault.js';
import type { AdapterTimings } from '../protocol/adapter-timings.js';
import type { AgentRuntimeEvent } from '../protocol/agent-runtime-event.js';
import type { AgentRuntimeRequest } from '../protocol/agent-runtime-request.js';
import type { AgentRuntimeResponse, RuntimeFailure } from '../protocol/agent-runtime-response.js';
import { failureOf, failureOfError } from '../protocol/failure-classification.js';
import { answered, cancelled, failed, type CallFacts } from '../protocol/final-events.js';
import { postAgain } from '../protocol/post-again.js';
import { sourceRuleOf, type SourceRule } from '../protocol/source-refs.js';
import { DifyAnswer } from './dify-answer.js';
import { DifyClient } from './dify-client.js';
import { mayPostAgain } from './dify-failure.js';
import { signalsOf, signalsOfBody, type DifySignal } from './dify-frames.js';
import { recoverByPolling, unknownOutcome } from './dify-recovery.js';
import { difyPost, difyTraceHeaders, type DifyRef } from './dify-request.js';
import { stopPathOf } from './dify-stop.js';

/**
 * One call to Dify, from its post to its end. Cancellation and deadlines do not cut the connection: Dify would go on
 * without us. They ask Dify to stop and go on listening, for a while, for the end that confirms it.
 */
export class DifyCall {
  readonly #client: DifyClient;
  readonly #answer: DifyAnswer;
  readonly #startedAt = performance.now();
  /** Aborts the connections, at the very end. */
  readonly #connection = new AbortController();
  readonly #post: ReturnType<typeof difyPost>;
  #deadlines: Deadlines;
  #isSent = false;
  #toldIds = '';
  /** Why it is being stopped; null while it is not. */
  #stopping: TransportFault | null = null;
  #stopSent = false;

  constructor(
    private readonly request: AgentRuntimeRequest,
    private readonly ref: DifyRef,
    credential: ResolvedCredential,
    private readonly deps: { redactor: SecretRedactor; timings: AdapterTimings },
    signal: AbortSignal,
  ) {
    this.#client = new DifyClient(credential, difyTraceHeaders(request));
    this.#answer = new DifyAnswer(ref, request.outputContract, deps.redactor);
    this.#post = difyPost(request, ref);
    const { totalSeconds, idleSeconds } = request.timeoutPolicy;
    this.#deadlines = new Deadlines({ totalMs: totalSeconds * 1000, idleMs: idleSeconds * 1000, signal });
  }

  async *run(): AsyncGenerator<AgentRuntimeEvent, AgentRuntimeResponse> {
    try {
      const failure = yield* this.#untilEnd();
      return this.#response(failure);
    } finally {
      this.#deadlines.close();
      this.#connection.abort(new TransportFault('aborted', 'the call has ended'));
    }
  }

  /** Until Dify has told the end, or until nothing can tell it any more: then the failure. */
  async *#untilEnd(): AsyncGenerator<AgentRuntimeEvent, RuntimeFailure | null> {
    try {
      const answer = await this.#posted();
      if (answer) yield* this.#listen(answer);
    } catch (error) {
      const failure = failureOfError(error);
      if (!this.#isSent || !isLostSight(error)) {
        await this.#stopWhatNobodyReads();
        return failure;
      }
    }
    if (this.#answer.end || !this.#isSent) return null;
    return this.#afterTheStream();
  }

  /** The answer to the post; null when it did not come in time, also not while stopping. */
  async #posted(): Promise<ProviderAnswer | null> {
    const post = postAgain(
      () =>
        this.#client.post(this.#post.path, this.#post.body, this.#connection.signal, () => {
          this.#isSent = true;
        }),
      {
        maxAttempts: this.request.retryPolicy.maxAttempts,
        mayPostAgain: (failure) => {
          const may = mayPostAgain(failure) && !this.#deadlines.signal.aborted;
          if (may) this.#isSent = false;
          return may;
        },
        backoffMs: this.deps.timings.backoffMs,
      },
      this.#connection.signal,
    );
    post.catch(() => undefined);
    for (;;) {
      const answer = await orAborted(post, this.#deadlines.signal);
      if (answer !== 'aborted') return answer;
      if (!this.#isSent || !this.#beginStop()) return null;
    }
  }

  async *#listen(answer: ProviderAnswer): AsyncGenerator<AgentRuntimeEvent> {
    if (answer.contentType === 'application/json' && this.#post.body.response_mode === 'blocking') {
      const body = await orAborted(readJson(answer), this.#deadlines.signal);
      if (body === 'aborted') this.#beginStop();
      else yield* this.#take(wholeBody(body));
      return;
    }
    const reader = new PatientReader<StreamItem>(
      readEvents(answer, {
        progress: () => {
          this.#deadlines.progress();
        },
      }),
    );
    try {
      while (!this.#answer.end) {
        const next = await reader.next(this.#deadlines.signal);
        if (next === 'done') break;
        if (next === 'aborted') {
          if (!this.#beginStop()) return;
        } else {
          yield* this.#take(itemSignals(next.item));
          if (next.item.kind === 'heartbeat') yield { type: 'runtime.heartbeat' };
        }
        await this.#sendStop();
      }
      this.#answer.acceptEndOfStream();
    } finally {
      reader.close();
    }
  }

  *#take(signals: readonly DifySignal[]): Generator<AgentRuntimeEvent> {
    for (const signal of signals) {
      const events = this.#answer.accept(signal);
      const started = this.#newlyStarted();
      if (started) yield started;
      yield* events;
    }
  }

  /** Reported as soon as the call can be found again, and once more where a stop or a recovery needs more. */
  #newlyStarted(): AgentRuntimeEvent | null {
    const { providerRequestId, ids } = this.#answer;
    if (!providerRequestId) return null;
    const { agentKey } = this.request.agentRef;
    const recovery = {
      ...ids,
      ...(agentKey === null ? {} : { agentKey }),
      user: this.#post.body.user,
      output: this.request.outputContract.type,
      sourceRefs: this.request.traceabilityPolicy.requireSourceRefs ? 'required' : 'optional',
    };
    const told = JSON.stringify(recovery);
    if (told === this.#toldIds) return null;
    this.#toldIds = told;
    return { type: 'runtime.started', providerRequestId, recovery };
  }

  /** The stream ended or broke before the run did: resume it, then poll, then say that nobody knows. */
  async #afterTheStream(): Promise<RuntimeFailure | null> {
    try {
      if (!this.#stopping) {
        if (this.#answer.isWorkflowApp) await this.#resume();
        if (this.#answer.end) return null;
        return await this.#poll();
      }
    } catch (error) {
      if (!(error instanceof TransportFault) || !this.#beginStop()) return this.#stopFailure();
    }
    if (!this.#answer.providerRequestId) return this.#stopFailure();
    try {
      this.#startGrace();
      await this.#sendStop();
      await this.#poll();
      return this.#answer.end ? null : this.#stopFailure();
    } catch (error) {
      if (error instanceof TransportFault) return this.#stopFailure();
      throw error;
    }
  }

  #poll(): Promise<RuntimeFailure | null> {
    return recoverByPolling(this.#client, this.#answer, {
      user: this.#post.body.user,
      pollMs: this.deps.timings.pollMs,
      forMs: this.deps.timings.recoverMs,
      signal: this.#deadlines.signal,
      onAlive: () => {
        this.#deadlines.progress();
      },
    });
  }

  /** Listens to the run once more. Its deltas may repeat those we had, so they are not reported. */
  async #resume(): Promise<void> {
    const runId = this.#answer.ids.workflowRunId;
    if (!runId) return;
    try {
      const path = `/workflow/${runId}/events?user=${encodeURIComponent(this.#post.body.user)}`;
      const stream = await this.#client.getStream(path, this.#deadlines.signal);
      for await (const item of readEvents(stream, this.#deadlines)) {
        for (const signal of itemSignals(item)) this.#answer.accept(signal);
        if (this.#answer.end) return;
      }
    } catch (error) {
      if (this.#deadlines.signal.aborted) throw this.#deadlines.signal.reason;
      failureOfError(error); // A refusal or a broken stream: polling is what is left.
    }
  }

  /** From now on the stop deadline counts. False when it has passed as well. */
  #beginStop(): boolean {
    if (this.#stopping) return false;
    this.#stopping = this.#deadlines.fault ?? new TransportFault('aborted', 'the call was cancelled');
    this.#startGrace();
    return true;
  }

  #startGrace(): void {
    this.#deadlines.close();
    const { stopMs } = this.deps.timings;
    this.#deadlines = new Deadlines({
      totalMs: stopMs,
      idleMs: stopMs,
      signal: new AbortController().signal,
    });
  }

  /** A stream that breaks a rule is not read to its end, and its run not left to run. */
  async #stopWhatNobodyReads(): Promise<void> {
    if (!this.#answer.ids.taskId || this.#answer.end) return;
    this.#beginStop();
    await this.#sendStop();
  }

  /** Once the task is known; a stop that Dify refuses is seen by the end that does not come. */
  async #sendStop(): Promise<void> {
    const { taskId } = this.#answer.ids;
    if (!this.#stopping || this.#stopSent || !taskId || this.#answer.end) return;
    this.#stopSent = true;
    try {
      const answer = await this.#client.post(
        stopPathOf(this.ref, taskId),
        { user: this.#post.body.user },
        this.#deadlines.signal,
      );
      answer.close();
    } catch (error) {
      if (!this.#deadlines.signal.aborted) failureOfError(error);
    }
  }

  /** The stop's deadline passed, or there was nothing to stop by. */
  #stopFailure(): RuntimeFailure {
    const why = this.#stopping?.message ?? 'the call was cancelled';
    if (this.#stopping?.kind === 'deadline' && !this.#stopSent) {
      return failureOf('network_timeout', why, { code: 'deadline', retryable: false });
    }
    const reached = this.#stopSent
      ? 'Dify did not confirm the stop; it may still run'
      : 'Dify gave no task to stop';
    return unknownOutcome(`${why}, and ${reached}`, this.#stopSent ? 'stop_unconfirmed' : 'no_task');
  }

  #response(failure: RuntimeFailure | null): AgentRuntimeResponse {
    const facts = this.#facts();
    const { end } = this.#answer;
    const stopping = this.#stopping ?? (this.#isSent ? null : this.#deadlines.fault);
    if (stopping && (end || !this.#isSent)) {
      // Dify has confirmed, by whatever end, that it no longer runs; or it never got the call.
      if (stopping.kind === 'aborted') return cancelled(facts);
      const late = failureOf('network_timeout', stopping.message, {
        code: 'deadline',
        retryable: !this.#isSent,
      });
      return failed(facts, late, this.deps.redactor);
    }
    if (failure ?? !end) {
      return failed(facts, failure ?? unknownOutcome('the stream ended early', 'no_end'), this.deps.redactor);
    }
    return difyResponse(sourceRuleOf(this.request), facts, end, this.deps.redactor);
  }

  #facts(): CallFacts {
    return difyFacts(this.#answer, performance.now() - this.#startedAt);
  }
}

export function difyFacts(answer: DifyAnswer, durationMs: number): CallFacts {
  const { usage } = answer;
  return {
    provider: 'dify',
    providerRequestId: answer.providerRequestId,
    usage: {
      promptTokens: usage?.promptTokens ?? null,
      completionTokens: usage?.completionTokens ?? null,
      totalTokens: usage?.totalTokens ?? null,
      durationMs: Math.round(durationMs),
      ...(usage?.cost ? { cost: usage.cost } : {}),
    },
    providerKnowledge: answer.providerKnowledge,
  };
}

export function difyResponse(
  rule: SourceRule,
  facts: CallFacts,
  end: NonNullable<DifyAnswer['end']>,
  redactor: SecretRedactor,
): AgentRuntimeResponse {
  switch (end.kind) {
    case 'succeeded':
      return answered(
        rule,
        facts,
        { output: end.output, finishReason: end.partial ? 'partial' : 'stop' },
        redactor,
      );
    case 'failed':
      return failed(facts, end.failure, redactor);
    case 'stopped': {
      const failure = failureOf('provider_run_failed', 'the run was stopped in Dify', { code: 'stopped' });
      return failed(facts, failure, redactor);
    }
  }
}

function itemSignals(item: StreamItem): DifySignal[] {
  switch (item.kind) {
    case 'frame':
      return frameSignals(item.data);
    case 'json':
      return wholeBody(item.value);
    case 'heartbeat':
      return [];
  }
}

function frameSignals(data: string): DifySignal[] {
  const frame = parseJsonOr(data, undefined);
  // A piece of the answer may be missing now: what Dify has stored is whole.
  if (frame === undefined && data.startsWith('{')) throw new TransportFault('lost', 'a frame is not JSON');
  return signalsOf(frame);
}

function wholeBody(body: unknown): DifySignal[] {
  const signals = signalsOfBody(body);
  if (signals.length === 0) throw new TransportFault('malformed', 'the answer is none that Dify gives');
  return signals;
}

/** Whether the run may go on, or may have ended well, although we no longer see it. */
function isLostSight(error: unknown): boolean {
  return error instanceof TransportFault && ['lost', 'deadline', 'aborted'].includes(error.kind);
}
