import type { GraphEdge, GraphNode } from '../../workflows/graph/graph-data.js';
import type { EndedVisit } from './walk.js';

/**
 * Whether an edge leads on after its source ended (decisions 11, 30 and 33): an edge without a handle always, one
 * with a handle only if it was chosen. A failed condition has chosen nothing, so all its edges are dead.
 */
export function isEdgeLive(
  edge: Pick<GraphEdge, 'sourceHandle'>,
  source: Pick<GraphNode, 'type'> | undefined,
  visit: Pick<EndedVisit, 'status' | 'handle'>,
): boolean {
  if (visit.status === 'failed') return source?.type !== 'condition';
  return edge.sourceHandle === null || edge.sourceHandle === visit.handle;
}
