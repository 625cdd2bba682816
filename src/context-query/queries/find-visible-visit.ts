import type { VisitNode } from '../paths/visit-node.js';
import { ContextQueryError } from './context-query-error.js';

export interface VisitWanted {
  nodeId: string;
  /** Which visit of the node; null: the last that has ended. */
  iterSeq: number | null;
}

/**
 * The visit of a node that a caller asks for, among those it may see. Throws 404, in the same words whether the node
 * is not in the graph, was not visited or is no ancestor (decision 24).
 */
export function findVisibleVisit(visible: readonly VisitNode[], { nodeId, iterSeq }: VisitWanted): VisitNode {
  const found = visible.findLast(
    (visit) => visit.nodeId === nodeId && (iterSeq === null ? visit.finished : visit.iterSeq === iterSeq),
  );
  if (found) return found;
  const which = iterSeq === null ? 'no finished visit' : `no visit ${iterSeq}`;
  throw new ContextQueryError(404, `${which} of node ${JSON.stringify(nodeId)} among the predecessors`);
}
