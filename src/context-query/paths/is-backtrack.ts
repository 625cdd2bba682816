import type { VisitNode } from './visit-node.js';

/**
 * An edge of a path flies back when its target's node was first visited no later than its source's (decision 26).
 * `firstVisits` holds each node's first `sortOrder` in the whole run: the visit that makes an edge a backtrack
 * need not lie on any path.
 */
export function isBacktrack(
  from: VisitNode,
  to: VisitNode,
  firstVisits: ReadonlyMap<string, number>,
): boolean {
  return firstVisitOf(to, firstVisits) <= firstVisitOf(from, firstVisits);
}

function firstVisitOf(visit: VisitNode, firstVisits: ReadonlyMap<string, number>): number {
  return firstVisits.get(visit.nodeId) ?? visit.sortOrder;
}
