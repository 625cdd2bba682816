import { nodeVisit } from '../../../test/factories/node-visit.js';
import type { JsonValue } from '../../common/json/json-value.js';
import type { WalkOutcome } from '../walks/walk.js';
import { IterationExecutor } from './iteration.executor.js';
import type { NodeVisit } from './node-executor.js';

type Item = Parameters<NodeVisit['walkItem']>[0];

const graph = { nodes: [], edges: [] };
const failure = (nodeId: string | null, error: string): WalkOutcome => ({
  kind: 'failure',
  reason: 'NODE_FAILED',
  nodeId,
  visitUuid: null,
  error,
});

/** Lets other work go on, in order. */
const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('iteration', () => {
  const executor = new IterationExecutor();
  const { signal } = new AbortController();

  function visitOf(
    items: JsonValue,
    walk: (item: Item) => Promise<WalkOutcome>,
    more: Parameters<typeof nodeVisit>[2] & { concurrency?: number } = {},
  ): NodeVisit {
    const { concurrency, ...rest } = more;
    const data = { items, graph, ...(concurrency ? { concurrency } : {}) };
    return nodeVisit('iteration', data, { nodeId: 'each', walkItem: walk, ...rest });
  }

  it('gives the outputs in the order of the items, whenever they end', async () => {
    const items = Array.from({ length: 20 }, (_, at) => at);
    const walk = async ({ scope }: Item): Promise<WalkOutcome> => {
      for (let turns = Number(scope.item) % 7; turns > 0; turns -= 1) await turn();
      return { kind: 'success', outputs: { twice: Number(scope.item) * 2 } };
    };
    const result = await executor.execute(visitOf(items, walk), signal);
    expect(result).toEqual({
      kind: 'completed',
      data: { items: items.map((item) => ({ twice: item * 2 })) },
    });
  });

  it('runs so many at the same time and no more', async () => {
    let running = 0;
    let most = 0;
    const walk = async (): Promise<WalkOutcome> => {
      running += 1;
      most = Math.max(most, running);
      await turn();
      running -= 1;
      return { kind: 'success', outputs: {} };
    };
    for (const concurrency of [1, 3, 50]) {
      most = 0;
      await executor.execute(visitOf(Array(20).fill(null), walk, { concurrency }), signal);
      expect(most).toBe(Math.min(concurrency, 20));
    }
  });

  it('shows its nodes the item, whatever it is, the index, and the nodes before', async () => {
    const seen: Item[] = [];
    const walk = (item: Item): Promise<WalkOutcome> => {
      seen.push(item);
      return Promise.resolve({ kind: 'success', outputs: {} });
    };
    const scope = { in: { list: [null, '甲', [1], { a: 1 }] }, item: 'outer', index: 9 };
    await executor.execute(visitOf('{{ in.list }}', walk, { scope, concurrency: 1 }), signal);
    expect(seen.map(({ scope, iterSeq }) => [scope, iterSeq])).toEqual(
      scope.in.list.map((item, index) => [{ in: scope.in, item, index }, index + 1]),
    );
    expect(seen[0]?.graph).toBe(graph);
    expect(new Set(seen.map((item) => item.signal)).size).toBe(4);
  });

  it('numbers the visits of a later visit of its own apart', async () => {
    const numbers: number[] = [];
    const walk = ({ iterSeq }: Item): Promise<WalkOutcome> => {
      numbers.push(iterSeq);
      return Promise.resolve({ kind: 'success', outputs: {} });
    };
    await executor.execute(visitOf([0, 0], walk, { iterSeq: 3, concurrency: 1 }), signal);
    expect(numbers).toEqual([2001, 2002]);
    await expect(executor.execute(visitOf([0], walk, { iterSeq: 3_000_000 }), signal)).rejects.toThrow(
      /too many iterations/,
    );
  });

  it('ends with the first item that fails, and tells the others to stop', async () => {
    const begun: number[] = [];
    const stopped: number[] = [];
    const walk = ({ scope, signal: given }: Item): Promise<WalkOutcome> => {
      const index = Number(scope.index);
      begun.push(index);
      if (index === 2) return Promise.resolve(failure('each.check', 'boom'));
      return new Promise((resolve) =>
        given.addEventListener('abort', () => {
          stopped.push(index);
          resolve(failure(null, 'the item was given up'));
        }),
      );
    };
    const visit = visitOf(Array(10).fill(0), walk, { concurrency: 4 });
    await expect(executor.execute(visit, signal)).rejects.toMatchObject({
      code: 'ITERATION_ITEM_FAILED',
      message: 'item 2 failed at node each.check: boom',
      retryable: false,
    });
    expect(begun).toEqual([0, 1, 2, 3]);
    expect(stopped).toEqual([0, 1, 3]);
  });

  it('stops when it is told to, and does not wait for its items then', async () => {
    const abort = new AbortController();
    const given: AbortSignal[] = [];
    const walk = ({ signal: one }: Item): Promise<WalkOutcome> => {
      given.push(one);
      return new Promise(() => undefined);
    };
    const ended = executor.execute(visitOf([1, 2, 3], walk, { concurrency: 2 }), abort.signal);
    await turn();
    abort.abort(new Error('cancelled'));
    await expect(ended).rejects.toThrow('cancelled');
    expect(given.map(({ aborted }) => aborted)).toEqual([true, true]);
  });

  it.each<[JsonValue, RegExp]>([
    ['{{ in.text }}', /must be a list, but \{\{ in.text \}\} gives a string/],
    ['{{ in.nobody }}', /gives nothing/],
    ['{{ in }}', /gives an object/],
    [Array(1001).fill(0) as JsonValue, /there are 1001 items, more than 1000/],
  ])('refuses the items %.30j', async (items, message) => {
    const visit = visitOf(items, () => Promise.reject(new Error('no item begins')), {
      scope: { in: { text: 'x' } },
    });
    await expect(executor.execute(visit, signal)).rejects.toMatchObject({
      code: 'ITERATION_ITEMS',
      message: expect.stringMatching(message) as string,
    });
  });

  it('has nothing to do for no items', async () => {
    const visit = visitOf([], () => Promise.reject(new Error('no item begins')));
    expect(await executor.execute(visit, signal)).toEqual({ kind: 'completed', data: { items: [] } });
  });
});
