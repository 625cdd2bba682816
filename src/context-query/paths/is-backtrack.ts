import type { VisitNode } from './visit-node.js';

/** Stands in the node id of every visit of an item, and in no other (decisions 33 and 43). */
const INNER = '.';

/**
 * An edge of a path flies back when its target's node was first visited no later than its source's (decision 26).
 * `firstVisits` holds each node's first `sortOrder` in the whole run: the visit that makes an edge a backtrack
 * need not lie on any path. Within an item of an iteration nothing flies back: its walk knows no cycles, and what
 * another item visited first, by another branch, is none of its visits.
 */
export function isBacktrack(
  from: VisitNode,
  to: VisitNode,
  firstVisits: ReadonlyMap<string, number>,
): boolean {
  if (from.nodeId.includes(INNER)) return false;
  return firstVisitOf(to, firstVisits) <= firstVisitOf(from, firstVisits);
}

function firstVisitOf(visit: VisitNode, firstVisits: ReadonlyMap<string, number>): number {
  return firstVisits.get(visit.nodeId) ?? visit.sortOrder;
}
