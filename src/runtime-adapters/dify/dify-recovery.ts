import { TransportFault } from '../http-sse/transport-fault.js';
import type { RuntimeFailure } from '../protocol/agent-runtime-response.js';
import { failureOf, RuntimeFault } from '../protocol/failure-classification.js';
import { pause } from '../protocol/pause.js';
import type { DifyAnswer } from './dify-answer.js';
import type { DifyClient } from './dify-client.js';
import { finishedOf, isObject, metadataOf } from './dify-frames.js';

/** Dify writes a run down after it has announced it: so often not being found is no answer yet. */
const NOT_FOUND_ALLOWED = 3;
const LONGEST_POLL_MS = 5_000;

export interface DifyRecovery {
  readonly user: string;
  /** The first pause between two polls; it grows to 5 s. */
  readonly pollMs: number;
  /** How long it may take in all. */
  readonly forMs: number;
  readonly signal: AbortSignal;
  /** Called when Dify says that the run goes on. */
  readonly onAlive?: () => void;
}

/**
 * Asks Dify again and again, but not for ever, how a run of which we lost sight ended, and tells the answer.
 * Workflow apps are asked for the run, the others for the message. Only reads.
 *
 * @returns the failure when Dify cannot tell; null once the answer has its end.
 * @throws the signal's reason
 */
export async function recoverByPolling(
  client: DifyClient,
  answer: DifyAnswer,
  { user, pollMs, forMs, signal, onAlive }: DifyRecovery,
): Promise<RuntimeFailure | null> {
  const look = lookOf(client, answer, user);
  if (!look) return unknownOutcome('Dify gave no id by which the run could be found again', 'no_provider_id');
  const until = performance.now() + forMs;
  let wait = pollMs;
  for (let notFound = 0; ; wait = Math.min(LONGEST_POLL_MS, wait * 1.5)) {
    try {
      await look(signal);
      onAlive?.();
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      if (
        error instanceof RuntimeFault &&
        error.failure.httpStatus !== null &&
        error.failure.httpStatus < 500
      ) {
        const isLate = error.failure.httpStatus === 404 && ++notFound < NOT_FOUND_ALLOWED;
        const isBusy = error.failure.httpStatus === 429;
        if (!isLate && !isBusy)
          return unknownOutcome(error.failure.message, error.failure.code ?? 'not_found');
      } else if (!(error instanceof RuntimeFault || error instanceof TransportFault)) {
        throw error;
      }
    }
    if (answer.end) return null;
    if (performance.now() >= until) {
      const seconds = String(Math.round(forMs / 1000));
      return unknownOutcome(`it still runs after ${seconds} s of polling`, 'still_running');
    }
    await pause(wait, signal);
  }
}

export function unknownOutcome(why: string, code: string): RuntimeFailure {
  return failureOf('outcome_unknown', `how the run in Dify ended is unknown: ${why}`, { code });
}

function lookOf(
  client: DifyClient,
  answer: DifyAnswer,
  user: string,
): ((signal: AbortSignal) => Promise<void>) | null {
  const { workflowRunId, messageId, conversationId } = answer.ids;
  if (answer.isWorkflowApp) {
    return workflowRunId ? (signal) => lookAtRun(client, answer, workflowRunId, signal) : null;
  }
  if (!messageId || !conversationId) return null;
  const path = `/messages?conversation_id=${conversationId}&user=${encodeURIComponent(user)}&limit=20`;
  return (signal) => lookAtMessages(client, answer, { path, messageId }, signal);
}

async function lookAtRun(
  client: DifyClient,
  answer: DifyAnswer,
  runId: string,
  signal: AbortSignal,
): Promise<void> {
  const run = await client.getJson(`/workflows/run/${runId}`, signal);
  if (!isObject(run) || run.status === 'running') return;
  for (const found of finishedOf(run)) answer.accept(found);
}

async function lookAtMessages(
  client: DifyClient,
  answer: DifyAnswer,
  { path, messageId }: { path: string; messageId: string },
  signal: AbortSignal,
): Promise<void> {
  const list = await client.getJson(path, signal);
  const messages: unknown[] = isObject(list) && Array.isArray(list.data) ? list.data : [];
  const message = messages.filter(isObject).find(({ id }) => id === messageId);
  if (!message)
    throw new RuntimeFault(failureOf('provider_bad_request', 'no such message', { httpStatus: 404 }));
  for (const found of metadataOf(message)) answer.accept(found);
  if (message.status === 'error') {
    const why = typeof message.error === 'string' ? message.error : null;
    answer.accept({ kind: 'error', status: null, code: 'error', message: why });
  } else if (typeof message.answer === 'string' && message.answer !== '') {
    // Dify stores the answer when it has ended; before that it is empty.
    answer.acceptMessage(message.answer);
  }
}
