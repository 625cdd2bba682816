import { nodeVisit } from '../../../test/factories/node-visit.js';
import { NodeFailure } from '../nodes/node-failure.js';
import type { NodeExecutor } from '../nodes/node-executor.js';
import { attemptNode } from './attempt-node.js';

describe('attemptNode', () => {
  const attempt = (execute: NodeExecutor['execute'], timeoutSeconds = 60) => {
    const controller = new AbortController();
    const executor = { type: 'agent', execute } as const;
    return {
      controller,
      outcome: attemptNode(executor, nodeVisit('agent', {}, { timeoutSeconds }), controller),
    };
  };

  it('gives the node’s result', async () => {
    const { outcome } = attempt(() => Promise.resolve({ kind: 'completed', data: { a: 1 } }));
    expect(await outcome).toEqual({ kind: 'completed', data: { a: 1 } });
  });

  it.each<[string, NodeExecutor['execute'], object]>([
    [
      'rejects',
      () => Promise.reject(new NodeFailure('HTTP_STATUS', 'no', { retryable: true })),
      { code: 'HTTP_STATUS', retryable: true },
    ],
    [
      'rejects with an error of its own',
      () => Promise.reject(new Error('no')),
      { code: 'NODE_ERROR', retryable: false },
    ],
    [
      'throws before it gives a promise',
      () => {
        throw new Error('no');
      },
      { code: 'NODE_ERROR', message: 'no' },
    ],
  ])('is a failure of the node where it %s', async (_how, execute, failure) => {
    expect(await attempt(execute).outcome).toMatchObject({ kind: 'failed', failure });
  });

  it('ends at its time, and tells a node that does not listen', async () => {
    const { outcome, controller } = attempt(() => new Promise(() => undefined), 0.05);
    expect(await outcome).toMatchObject({
      kind: 'failed',
      failure: { code: 'NODE_TIMEOUT', message: 'the node took longer than 0.05 s', retryable: true },
    });
    expect(controller.signal.aborted).toBe(true);
  });
});
