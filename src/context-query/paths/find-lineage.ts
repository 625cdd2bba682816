import { bySortOrder, type VisitNode } from './visit-node.js';

export interface LineageSearch {
  /** By `sortOrder`. */
  visits: VisitNode[];
  /** False when a visit or one of its ancestors was not found. */
  complete: boolean;
}

/** The visit and all its ancestors, each once, however many ways lead to it. */
export function findLineage(
  visitUuid: string,
  find: (visitUuid: string) => VisitNode | undefined,
): LineageSearch {
  const seen = new Set([visitUuid]);
  const visits: VisitNode[] = [];
  let complete = true;
  // A set visits what is added while it is walked.
  for (const uuid of seen) {
    const visit = find(uuid);
    if (!visit) {
      complete = false;
      continue;
    }
    visits.push(visit);
    for (const predecessor of visit.predecessors) seen.add(predecessor);
  }
  return { visits: visits.sort(bySortOrder), complete };
}
