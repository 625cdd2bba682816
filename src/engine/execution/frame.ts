import type { JsonValue } from '../../common/json/json-value.js';
import type { WorkflowGraph } from '../../workflows/graph/workflow-graph.js';
import type { PlannedVisit, Walk, WalkOutcome } from '../walks/walk.js';

/**
 * One walk over one graph within a run: the workflow's own, or that of one item of an iteration. Nodes of an
 * iteration's graph belong to the run as `{iteration}.{inner}` with `iterSeq` = index + 1 (decision 33).
 */
export interface Frame {
  readonly graph: WorkflowGraph;
  readonly walk: Walk;
  /** What templates of the frame's nodes see, by node id; grows as nodes end. */
  readonly scope: Record<string, JsonValue>;
  /** Put before node ids outside: `` or `{iteration}.`. */
  readonly prefix: string;
  /** The visit number all its visits carry; null: the walk counts them. */
  readonly iterSeq: number | null;
  /**
   * What visits that nothing in the frame comes before come from: for an item those of its iteration, so that its
   * agents may ask about them (decision 24).
   */
  readonly comesFrom: readonly string[];
  /** Planned, but without a free slot yet. */
  readonly queue: PlannedVisit[];
  /** Visits that have begun and not ended, waiting ones included. */
  running: number;
  /** Set for an iteration's item; called once its walk is over or given up. */
  readonly settled: ((outcome: WalkOutcome) => void) | null;
  over: boolean;
}

/** Nodes of a frame that ends without having come to them; one that was to be visited once more has been visited. */
export function neverBegun({ graph, walk, queue }: Frame): string[] {
  const planned = queue.filter(({ nodeId, iterSeq }) => iterSeq === 1 && graph.node(nodeId));
  return [...planned.map(({ nodeId }) => nodeId), ...walk.undecided()];
}

export function openFrame(
  options: Pick<Frame, 'graph' | 'walk' | 'scope' | 'prefix' | 'iterSeq' | 'comesFrom' | 'settled'>,
): Frame {
  return { ...options, queue: [], running: 0, over: false };
}
