import { NodeFailure } from '../nodes/node-failure.js';
import type { AttemptOutcome } from './attempt-node.js';
import type { VisitState } from './visit-state.js';

/** A visit under which the bridge died so often may itself be what kills it. */
const MAX_BRIDGES_LOST = 3;

/** Whether a further attempt follows (contract.md, `retry`): only after a failure that may be tried again. */
export function mayRetry(
  visit: VisitState,
  outcome: AttemptOutcome,
): outcome is Extract<AttemptOutcome, { kind: 'failed' }> {
  if (outcome.kind !== 'failed') return false;
  // Our own bridge died under the visit, as the server might have: it acts again without a retry of its own.
  if (outcome.failure.code === 'bridge_lost' && visit.attempt <= MAX_BRIDGES_LOST) return true;
  const attempts = visit.node.data.retry?.maxAttempts ?? 1;
  return outcome.failure.retryable && visit.attempt < attempts;
}

/** A visit that was cut off and begun again more often than this may itself be what ends its process. */
export const MAX_CUT_OFFS = 25;

/**
 * The end of a visit whose process died again and again while it acted; null while it may act once more. Attempts of
 * `retry` do not count. An iteration does nothing itself: its items' visits have their own counts.
 */
export function lostTooOften({ attempt, resumed, node }: VisitState): NodeFailure | null {
  const retried = (node.data.retry?.maxAttempts ?? 1) - 1;
  if (!resumed || node.type === 'iteration' || attempt - 1 - retried <= MAX_CUT_OFFS) return null;
  return new NodeFailure('WORKER_LOST', `the server died more than ${MAX_CUT_OFFS} times while the node ran`);
}

/** Seconds to wait before the attempt after `attempt`: doubled each time, up to a limit. */
export function backoffSeconds(
  attempt: number,
  retry: { backoffSeconds?: number; maxBackoffSeconds?: number } | undefined,
): number {
  const first = retry?.backoffSeconds ?? 1;
  return Math.min(first * 2 ** (attempt - 1), retry?.maxBackoffSeconds ?? 60);
}

/** Waits before the next attempt, or until the visit is told to stop. */
export async function backOff(visit: VisitState, cause: NodeFailure): Promise<void> {
  const seconds = backoffSeconds(visit.attempt, visit.node.data.retry);
  visit.text.add({
    type: 'info',
    message: `attempt ${visit.attempt} failed: ${cause.message}; the next one follows in ${seconds} s`,
  });
  visit.controller = new AbortController();
  const { signal } = visit.controller;
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, seconds * 1000);
    const stop = (): void => {
      clearTimeout(timer);
      resolve();
    };
    signal.addEventListener('abort', stop, { once: true });
  });
}
