import type { JsonObject, JsonValue } from '../../common/json/json-value.js';
import { renderTemplate, renderTemplates } from '../../workflows/templates/index.js';
import type { GraphData } from '../../workflows/graph/graph-data.js';
import type { NodeExecutor, NodeResult, NodeVisit } from './node-executor.js';
import { NodeFailure } from './node-failure.js';

/** Items of one visit; also what tells the visits of several visits of an iteration apart (see `iterSeqOf`). */
export const MAX_ITEMS = 1_000;
const DEFAULT_CONCURRENCY = 4;
/** `iterSeq` is stored as a 32-bit integer. */
const MAX_ITER_SEQ = 2 ** 31 - 1;

/**
 * `iteration`: walks its graph once for each item, some at the same time, and gives their outputs in the items'
 * order: `{items: [output data]}`. Nodes within also see `item` and `index`. The first item that fails ends it.
 */
export class IterationExecutor implements NodeExecutor {
  readonly type = 'iteration';

  async execute(visit: NodeVisit, signal: AbortSignal): Promise<NodeResult> {
    const { graph, concurrency = DEFAULT_CONCURRENCY } = visit.node.data as unknown as {
      graph: GraphData;
      concurrency?: number;
    };
    const items = await itemsOf(visit);
    // What runs beside the iteration may end meanwhile: all items see the same.
    const scope = { ...visit.scope };
    const outputs: JsonObject[] = [];
    const stop = new AbortController();
    let next = 0;
    const work = async (): Promise<void> => {
      while (next < items.length && !signal.aborted && !stop.signal.aborted) {
        const index = next;
        next += 1;
        const outcome = await visit.walkItem({
          graph,
          iterSeq: iterSeqOf(visit, index),
          scope: { ...scope, item: items[index] ?? null, index },
          // One of its own: a shared one would gather a listener for each item.
          signal: AbortSignal.any([signal, stop.signal]),
        });
        if (outcome.kind === 'success') {
          outputs[index] = outcome.outputs;
        } else {
          // The first reason counts: the items that are told to stop fail too.
          stop.abort(new NodeFailure('ITERATION_ITEM_FAILED', itemMessage(visit, index, outcome)));
        }
      }
    };
    const workers = Array.from({ length: Math.min(concurrency, items.length) }, work);
    // An item that was told to stop is part of the visit until it has stopped; nobody waits for a visit that was.
    await Promise.race([Promise.all(workers), abortOf(signal)]);
    stop.signal.throwIfAborted();
    return { kind: 'completed', data: { items: outputs } };
  }
}

/** Rejects with the signal's reason. */
function abortOf(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const abort = (): void => reject(signal.reason as Error);
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, { once: true });
  });
}

async function itemsOf({ node, scope }: NodeVisit): Promise<JsonValue[]> {
  const given = node.data.items as JsonValue;
  const items =
    typeof given === 'string' ? await renderTemplate(given, scope) : await renderTemplates(given, scope);
  if (!Array.isArray(items)) {
    throw new NodeFailure(
      'ITERATION_ITEMS',
      `items must be a list, but ${typeof given === 'string' ? given : 'the value'} gives ${kindOf(items)}`,
    );
  }
  if (items.length > MAX_ITEMS) {
    throw new NodeFailure('ITERATION_ITEMS', `there are ${items.length} items, more than ${MAX_ITEMS}`);
  }
  return items;
}

/**
 * The visit number of an item's inner visits: index + 1 (decision 33). Later visits of the same iteration, in a
 * cycle or inside another iteration, count on from the numbers that the earlier ones may have used.
 */
function iterSeqOf({ iterSeq, nodeId }: NodeVisit, index: number): number {
  const number = (iterSeq - 1) * MAX_ITEMS + index + 1;
  if (number > MAX_ITER_SEQ) {
    throw new NodeFailure('ITERATION_ITEMS', `${nodeId} nests in too many iterations to number its visits`);
  }
  return number;
}

function itemMessage(
  { nodeId }: NodeVisit,
  index: number,
  failed: { nodeId: string | null; error: string },
): string {
  if (failed.nodeId === null) return `item ${index} failed: ${failed.error}`;
  const inner = failed.nodeId.startsWith(`${nodeId}.`) ? failed.nodeId : `${nodeId}.${failed.nodeId}`;
  return `item ${index} failed at node ${inner}: ${failed.error}`;
}

function kindOf(value: JsonValue): string {
  if (value === null) return 'nothing';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
