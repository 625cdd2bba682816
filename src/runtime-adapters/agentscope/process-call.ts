import type { SecretRedactor } from '../../credentials/index.js';
import type { Deadlines } from '../http-sse/deadlines.js';
import { parseJsonOr } from '../http-sse/read-body.js';
import { readEvents, type StreamItem } from '../http-sse/read-events.js';
import { TransportFault } from '../http-sse/transport-fault.js';
import type { AdapterTimings } from '../protocol/adapter-timings.js';
import type { AgentRuntimeEvent } from '../protocol/agent-runtime-event.js';
import type { AgentRuntimeRequest } from '../protocol/agent-runtime-request.js';
import type { AgentRuntimeResponse } from '../protocol/agent-runtime-response.js';
import { failureOf, failureOfError } from '../protocol/failure-classification.js';
import { answered, cancelled, failed, type CallFacts } from '../protocol/final-events.js';
import { postAgain } from '../protocol/post-again.js';
import { sourceRuleOf } from '../protocol/source-refs.js';
import { mayPostAgain, type AgentScopeClient } from './agentscope-client.js';
import { processBody, type AgentScopeRef } from './agentscope-request.js';
import { ProcessAnswer } from './process-answer.js';
import { processSignalsOf, type ProcessSignal } from './process-frames.js';

export interface AgentScopeDeps {
  readonly client: AgentScopeClient;
  readonly deadlines: Deadlines;
  readonly redactor: SecretRedactor;
  readonly timings: AdapterTimings;
}

/**
 * One call of `POST /process`. The run lives with its connection: closing it is the only stop there is, and nobody
 * confirms it; its tools may have had their effect. So a cancelled call that had been sent is `outcome_unknown`.
 */
export async function* callProcess(
  request: AgentRuntimeRequest,
  ref: AgentScopeRef,
  { client, deadlines, redactor, timings }: AgentScopeDeps,
): AsyncGenerator<AgentRuntimeEvent, AgentRuntimeResponse> {
  const startedAt = performance.now();
  const answer = new ProcessAnswer(request.outputContract, redactor);
  let isSent = false;
  const facts = (): CallFacts => processFacts(answer, performance.now() - startedAt);
  try {
    const post = (): Promise<Awaited<ReturnType<typeof client.send>>> => {
      isSent = false;
      return client.send('POST', '/process', processBody(request, ref), deadlines.signal, () => {
        isSent = true;
      });
    };
    const policy = {
      maxAttempts: request.retryPolicy.maxAttempts,
      backoffMs: timings.backoffMs,
      mayPostAgain,
    };
    const stream = await postAgain(post, policy, deadlines.signal);
    let isStarted = false;
    for await (const item of readEvents(stream, deadlines)) {
      if (item.kind === 'heartbeat') yield { type: 'runtime.heartbeat' };
      for (const signal of signalsOf(item)) {
        const events = answer.accept(signal);
        if (!isStarted && answer.responseId !== null) {
          isStarted = true;
          yield { type: 'runtime.started', providerRequestId: answer.responseId };
        }
        yield* events;
      }
      if (answer.end) break;
    }
  } catch (error) {
    if (!answer.end) return unanswered(error, deadlines, { isSent, facts: facts(), redactor });
  }
  const { end } = answer;
  if (!end) {
    const lost = new TransportFault('lost', 'the stream ended without a final response');
    return failed(facts(), failureOfError(lost), redactor);
  }
  if (end.kind === 'failed') return failed(facts(), end.failure, redactor);
  const finishReason = end.partial ? 'partial' : 'stop';
  return answered(sourceRuleOf(request), facts(), { output: end.output, finishReason }, redactor);
}

function unanswered(
  error: unknown,
  deadlines: Deadlines,
  { isSent, facts, redactor }: { isSent: boolean; facts: CallFacts; redactor: SecretRedactor },
): AgentRuntimeResponse {
  const fault = deadlines.fault ?? error;
  if (!(fault instanceof TransportFault) || (fault.kind !== 'aborted' && fault.kind !== 'deadline')) {
    return failed(facts, failureOfError(fault), redactor);
  }
  if (fault.kind === 'deadline') {
    const late = failureOf('network_timeout', fault.message, { code: 'deadline', retryable: !isSent });
    return failed(facts, late, redactor);
  }
  if (!isSent) return cancelled(facts);
  const why = `${fault.message}; the connection was closed, and AgentScope Runtime does not confirm a stop`;
  return failed(facts, failureOf('outcome_unknown', why, { code: 'stop_unconfirmed' }), redactor);
}

function signalsOf(item: StreamItem): ProcessSignal[] {
  if (item.kind === 'heartbeat') return [];
  const frame = item.kind === 'json' ? item.value : parseJsonOr(item.data, undefined);
  if (frame === undefined) throw new TransportFault('malformed', 'a frame is not JSON');
  return processSignalsOf(frame);
}

function processFacts(answer: ProcessAnswer, durationMs: number): CallFacts {
  const { promptTokens, completionTokens } = answer.usage;
  return {
    provider: 'agentscope',
    providerRequestId: answer.responseId,
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
