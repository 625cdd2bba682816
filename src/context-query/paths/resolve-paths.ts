import { isBacktrack } from './is-backtrack.js';
import { bySortOrder, type Lineage, type VisitNode } from './visit-node.js';

/** One chain of visits that led to the caller, first visit first. */
export interface VisitPath {
  /** Node ids. */
  sequence: string[];
  /** Parallel to `sequence`. */
  visitUuids: string[];
  hasBacktrack: boolean;
  /** Only the end near the caller is shown: the chain is longer than 200 visits. */
  truncated?: true;
}

/** `data` of the path query (internal-context-query.md §2.1). */
export interface PredecessorPaths {
  /** Every ancestor and the caller, by order of beginning. */
  visitUuids: string[];
  /** Parallel to `visitUuids`, so a node visited twice stands there twice. */
  nodeIds: string[];
  paths: VisitPath[];
  /** `{from}->{to}` of each edge on a shown path that flies back. */
  backtrackEdgeKeys: string[];
  /** There are more paths than shown. */
  truncated?: true;
}

export interface PathLimits {
  readonly maxPaths: number;
  readonly maxDepth: number;
}

export const PATH_LIMITS: PathLimits = { maxPaths: 100, maxDepth: 200 };

/**
 * The chains of visits that led to the caller, from the visits without a predecessor on (decision 26). Paths are
 * enumerated backwards from the caller and lazily, so a graph with 2^20 of them costs no more than the first 100.
 */
export function resolvePaths(
  lineage: Lineage,
  callerUuid: string,
  limits: PathLimits = PATH_LIMITS,
): PredecessorPaths {
  const { visits, firstVisits } = lineage;
  const byUuid = new Map(visits.map((visit) => [visit.visitUuid, visit]));
  const caller = byUuid.get(callerUuid);
  const paths: VisitPath[] = [];
  const backtrackEdges = new Set<string>();
  let truncated = false;
  for (const chain of caller ? chainsTo(caller, byUuid, limits.maxDepth) : []) {
    if (paths.length === limits.maxPaths) {
      truncated = true;
      break;
    }
    paths.push(toPath(chain, firstVisits, backtrackEdges));
  }
  return {
    visitUuids: visits.map(({ visitUuid }) => visitUuid),
    nodeIds: visits.map(({ nodeId }) => nodeId),
    paths,
    backtrackEdgeKeys: [...backtrackEdges],
    ...(truncated ? { truncated } : {}),
  };
}

interface Chain {
  /** From the far end to the caller. */
  readonly visits: readonly VisitNode[];
  /** The far end has predecessors that are not shown. */
  readonly cut: boolean;
}

/**
 * Yields every chain that ends in `caller`, depth first with a stack of its own; predecessors in the order they
 * began. Every branch ends in a chain, so finding the next one takes at most `maxDepth` steps.
 */
function* chainsTo(
  caller: VisitNode,
  byUuid: ReadonlyMap<string, VisitNode>,
  maxDepth: number,
): Generator<Chain> {
  const known = new Map<VisitNode, readonly VisitNode[]>();
  const predecessorsOf = (visit: VisitNode): readonly VisitNode[] => {
    const predecessors = known.get(visit) ?? earlierPredecessors(visit, byUuid);
    known.set(visit, predecessors);
    return predecessors;
  };
  /** From the caller to the far end; `next` is the predecessor to try next. */
  const stack: { visit: VisitNode; next: number }[] = [{ visit: caller, next: 0 }];
  for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
    const predecessors = predecessorsOf(top.visit);
    const cut = predecessors.length > 0 && stack.length === maxDepth;
    if (predecessors.length === 0 || cut) {
      yield { visits: stack.map(({ visit }) => visit).reverse(), cut };
      stack.pop();
      continue;
    }
    const predecessor = predecessors[top.next];
    top.next += 1;
    if (predecessor === undefined) stack.pop();
    else stack.push({ visit: predecessor, next: 0 });
  }
}

/** A predecessor began earlier; a record that says otherwise is broken and must not lead into a circle. */
function earlierPredecessors(visit: VisitNode, byUuid: ReadonlyMap<string, VisitNode>): readonly VisitNode[] {
  return [...new Set(visit.predecessors)]
    .map((uuid) => byUuid.get(uuid))
    .filter((found) => found !== undefined)
    .filter((found) => found.sortOrder < visit.sortOrder)
    .sort(bySortOrder);
}

function toPath(
  { visits, cut }: Chain,
  firstVisits: ReadonlyMap<string, number>,
  backtrackEdges: Set<string>,
): VisitPath {
  let hasBacktrack = false;
  for (let at = 1; at < visits.length; at += 1) {
    const from = visits[at - 1];
    const to = visits[at];
    if (!from || !to || !isBacktrack(from, to, firstVisits)) continue;
    hasBacktrack = true;
    backtrackEdges.add(`${from.nodeId}->${to.nodeId}`);
  }
  return {
    sequence: visits.map(({ nodeId }) => nodeId),
    visitUuids: visits.map(({ visitUuid }) => visitUuid),
    hasBacktrack,
    ...(cut ? { truncated: true } : {}),
  };
}
