import { deadline } from '../../common/time/deadline.js';
import { Deadlines } from '../http-sse/deadlines.js';
import { orAborted, PatientReader } from '../http-sse/patient-reader.js';
import { parseJsonOr, readJson } from '../http-sse/read-body.js';
import { readEvents, type StreamItem } from '../http-sse/read-events.js';
import { TransportFault } from '../http-sse/transport-fault.js';
import type { AgentRuntimeEvent } from '../protocol/agent-runtime-event.js';
import type { AgentRuntimeRequest } from '../protocol/agent-runtime-request.js';
import type { AgentRuntimeResponse, RuntimeFailure } from '../protocol/agent-runtime-response.js';
import { failureOf, failureOfError } from '../protocol/failure-classification.js';
import { answered, cancelled, failed, type CallFacts } from '../protocol/final-events.js';
import { pause } from '../protocol/pause.js';
import { postAgain, type PostPolicy } from '../protocol/post-again.js';
import { pseudonym } from '../protocol/pseudonym.js';
import { sourceRuleOf, type SourceRule } from '../protocol/source-refs.js';
import { mayPostAgain } from './agentscope-client.js';
import { chatBody } from './agentscope-request.js';
import { isObject, textOrNull } from './json-fields.js';
import type { AgentScopeDeps } from './process-call.js';
import { SessionAnswer, type SessionEnd } from './session-answer.js';
import { sessionEventOf } from './session-frames.js';

/** How often a stream that broke is opened again; each time the server replays the run. */
const MOST_CONNECTIONS = 5;

/**
 * One call of AgentScope 2.0: a fresh session, a chat in it, and the session's stream until the reply ends. The run
 * does not depend on the connection: a broken stream is opened again, a cancelled run interrupted and awaited.
 */
export class SessionCall {
  readonly #answer: SessionAnswer;
  readonly #startedAt = performance.now();
  readonly #connection = new AbortController();
  #deadlines: Deadlines;
  #sessionId: string | null = null;
  #isSent = false;
  #stopping: TransportFault | null = null;

  constructor(
    private readonly request: AgentRuntimeRequest,
    private readonly agentId: string,
    private readonly deps: AgentScopeDeps,
  ) {
    this.#answer = new SessionAnswer(request.outputContract, deps.redactor);
    this.#deadlines = deps.deadlines;
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

  async *#untilEnd(): AsyncGenerator<AgentRuntimeEvent, RuntimeFailure | null> {
    try {
      const sessionId = await this.#createSession();
      await this.#chat(sessionId);
      const recovery = { agentId: this.agentId, ...recoveryOf(this.request) };
      yield { type: 'runtime.started', providerRequestId: sessionId, recovery };
      for (let connection = 1; connection <= MOST_CONNECTIONS && !this.#answer.end; connection++) {
        if (connection > 1) {
          await pause(this.deps.timings.pollMs, this.#deadlines.signal);
          this.#answer.restart();
        }
        yield* this.#listen(sessionId);
      }
    } catch (error) {
      await this.#interruptWhatNobodyReads();
      return failureOfError(this.#stopping ?? this.deps.deadlines.fault ?? error);
    }
    return null;
  }

  async #createSession(): Promise<string> {
    const { client, deadlines } = this.deps;
    const body = { agent_id: this.agentId, name: this.request.commandId };
    const create = async (): Promise<unknown> =>
      readJson(await client.send('POST', '/sessions/', body, deadlines.signal));
    const created = await postAgain(create, this.#policy(), deadlines.signal);
    const id = isObject(created) ? (textOrNull(created.session_id) ?? textOrNull(created.id)) : null;
    if (!id || !/^[A-Za-z0-9_-]{1,128}$/.test(id))
      throw new TransportFault('malformed', 'the session has no id');
    this.#sessionId = id;
    return id;
  }

  /** The command itself. A lost answer does not tell whether it was accepted: the session's stream will. */
  async #chat(sessionId: string): Promise<void> {
    const { client, deadlines } = this.deps;
    const body = chatBody(this.request, this.agentId, sessionId);
    const post = (): Promise<void> => {
      this.#isSent = false;
      return client
        .send('POST', '/chat/', body, deadlines.signal, () => {
          this.#isSent = true;
        })
        .then((answer) => {
          answer.close();
        });
    };
    try {
      await postAgain(post, this.#policy(), deadlines.signal);
    } catch (error) {
      const failure = failureOfError(error);
      const mayHaveBegun = this.#isSent && (failure.type === 'outcome_unknown' || deadlines.signal.aborted);
      if (!mayHaveBegun) throw error;
    }
  }

  async *#listen(sessionId: string): AsyncGenerator<AgentRuntimeEvent> {
    let reader: PatientReader<StreamItem> | null = null;
    try {
      const opened = this.deps.client.send('GET', this.#path('stream'), undefined, this.#connection.signal);
      opened.catch(() => undefined);
      const stream = await this.#patiently((signal) => orAborted(opened, signal), sessionId);
      if (stream === 'aborted') throw this.#gaveUp();
      const items = new PatientReader<StreamItem>(
        readEvents(stream, {
          progress: () => {
            this.#deadlines.progress();
          },
        }),
      );
      reader = items;
      while (!this.#answer.end) {
        const next = await this.#patiently((signal) => items.next(signal), sessionId);
        if (next === 'aborted') throw this.#gaveUp();
        if (next === 'done') return;
        yield* this.#take(next.item);
      }
    } catch (error) {
      if (!(error instanceof TransportFault && error.kind === 'lost')) throw error;
    } finally {
      reader?.close();
    }
  }

  *#take(item: StreamItem): Generator<AgentRuntimeEvent> {
    if (item.kind === 'heartbeat') {
      yield { type: 'runtime.heartbeat' };
      return;
    }
    const frame = item.kind === 'json' ? undefined : parseJsonOr(item.data, undefined);
    if (frame === undefined)
      throw new TransportFault('malformed', 'the stream of the session holds what is no event');
    const event = sessionEventOf(frame);
    if (event) yield* this.#answer.accept(event);
  }

  /** Waits; when the deadline passes or the caller gives up, interrupts the run and waits once more. */
  async #patiently<T>(
    wait: (signal: AbortSignal) => Promise<T | 'aborted'>,
    sessionId: string,
  ): Promise<T | 'aborted'> {
    const result = await wait(this.#deadlines.signal);
    if (result !== 'aborted' || this.#stopping) return result;
    this.#stopping = this.#deadlines.fault;
    this.#deadlines.close();
    const { stopMs } = this.deps.timings;
    this.#deadlines = new Deadlines({
      totalMs: stopMs,
      idleMs: stopMs,
      signal: new AbortController().signal,
    });
    await interrupt(this.deps, this.#path('interrupt'), sessionId, this.#deadlines.signal);
    return wait(this.#deadlines.signal);
  }

  /** A stream that breaks a rule is not read to its end, and its run not left to run. */
  async #interruptWhatNobodyReads(): Promise<void> {
    if (!this.#sessionId || !this.#isSent || this.#stopping) return;
    const { signal, close } = deadline(this.deps.timings.stopMs, this.#connection.signal);
    await interrupt(this.deps, this.#path('interrupt'), this.#sessionId, signal).finally(close);
  }

  #gaveUp(): TransportFault {
    return this.#stopping ?? new TransportFault('deadline', 'the run was not interrupted in time');
  }

  #response(failure: RuntimeFailure | null): AgentRuntimeResponse {
    const { redactor, deadlines } = this.deps;
    const facts = sessionFacts(this.#answer, this.#sessionId, performance.now() - this.#startedAt);
    const { end } = this.#answer;
    const stopping = this.#stopping ?? deadlines.fault;
    if (stopping) {
      const isOver = end !== null || !this.#isSent;
      if (!isOver) {
        const why = `${stopping.message}, and AgentScope did not confirm the stop; it may still run`;
        return failed(facts, failureOf('outcome_unknown', why, { code: 'stop_unconfirmed' }), redactor);
      }
      if (stopping.kind === 'aborted') return cancelled(facts);
      const late = failureOf('network_timeout', stopping.message, {
        code: 'deadline',
        retryable: !this.#isSent,
      });
      return failed(facts, late, redactor);
    }
    if (failure) return failed(facts, failure, redactor);
    return sessionResponse(sourceRuleOf(this.request), facts, end, this.deps);
  }

  #path(what: 'stream' | 'interrupt'): string {
    return sessionPath(this.#sessionId ?? '', what, this.agentId);
  }

  #policy(): PostPolicy {
    const { maxAttempts } = this.request.retryPolicy;
    return { maxAttempts, backoffMs: this.deps.timings.backoffMs, mayPostAgain };
  }
}

export function sessionPath(sessionId: string, what: 'stream' | 'interrupt', agentId: string): string {
  return `/sessions/${encodeURIComponent(sessionId)}/${what}?agent_id=${encodeURIComponent(agentId)}`;
}

/** Asks for the interruption; whether it came, only the reply's end tells. */
export async function interrupt(
  { client }: Pick<AgentScopeDeps, 'client'>,
  path: string,
  sessionId: string,
  signal: AbortSignal,
): Promise<void> {
  try {
    const answer = await client.send('POST', path, { session_id: sessionId }, signal);
    answer.close();
  } catch (error) {
    if (!signal.aborted) failureOfError(error);
  }
}

/** What `recover` needs to know of the request. */
export function recoveryOf(request: AgentRuntimeRequest): Record<string, string> {
  const { agentKey } = request.agentRef;
  return {
    ...(agentKey === null ? {} : { agentKey }),
    user: pseudonym(request.actor),
    output: request.outputContract.type,
    sourceRefs: request.traceabilityPolicy.requireSourceRefs ? 'required' : 'optional',
  };
}

export function sessionFacts(answer: SessionAnswer, sessionId: string | null, durationMs: number): CallFacts {
  const { promptTokens, completionTokens } = answer;
  return {
    provider: 'agentscope',
    providerRequestId: sessionId,
    usage: {
      promptTokens,
      completionTokens,
      totalTokens:
        promptTokens === null || completionTokens === null ? null : promptTokens + completionTokens,
      durationMs: Math.round(durationMs),
    },
    providerKnowledge: false,
  };
}

export function sessionResponse(
  rule: SourceRule,
  facts: CallFacts,
  end: SessionEnd | null,
  { redactor }: Pick<AgentScopeDeps, 'redactor'>,
): AgentRuntimeResponse {
  switch (end?.kind) {
    case 'succeeded':
      return answered(
        rule,
        facts,
        { output: end.output, finishReason: end.partial ? 'partial' : 'stop' },
        redactor,
      );
    case 'failed':
      return failed(facts, end.failure, redactor);
    case 'interrupted':
      return failed(
        facts,
        failureOf('provider_run_failed', 'the run was interrupted in AgentScope', { code: 'interrupted' }),
        redactor,
      );
    case undefined:
      return failed(
        facts,
        failureOf('outcome_unknown', 'the stream of the session never told how the reply ended', {
          code: 'no_end',
        }),
        redactor,
      );
  }
}
