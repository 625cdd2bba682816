import { LeaseLostError } from '../../runs/journal/journal-errors.js';
import type { NodeExecutor, NodeResult, NodeVisit } from '../nodes/node-executor.js';
import { NodeFailure } from '../nodes/node-failure.js';

export type AttemptOutcome = NodeResult | { kind: 'failed'; failure: NodeFailure };

/**
 * Lets a node act once, within `timeoutSeconds`. Resolves at the deadline even when the node does not listen to
 * its signal; a result that comes later is dropped.
 */
export function attemptNode(
  executor: NodeExecutor,
  visit: NodeVisit,
  controller: AbortController,
): Promise<AttemptOutcome> {
  return new Promise((resolve) => {
    const fail = (failure: NodeFailure): void => resolve({ kind: 'failed', failure });
    const deadline = setTimeout(() => {
      const message = `the node took longer than ${visit.timeoutSeconds} s`;
      const failure = new NodeFailure('NODE_TIMEOUT', message, { retryable: true });
      controller.abort(failure);
      fail(failure);
    }, visit.timeoutSeconds * 1000);
    // An executor may throw before it gives its promise: that too is the node's failure, not the run's.
    const execute = async (): Promise<NodeResult> => executor.execute(visit, controller.signal);
    execute()
      .then(resolve, (error: unknown) => fail(asNodeFailure(error)))
      .finally(() => clearTimeout(deadline));
  });
}

function asNodeFailure(error: unknown): NodeFailure {
  if (error instanceof NodeFailure) return error;
  if (error instanceof LeaseLostError) return new NodeFailure('CANCELLED', error.message, { cause: error });
  const message = error instanceof Error ? error.message : String(error);
  return new NodeFailure('NODE_ERROR', message, { cause: error });
}
