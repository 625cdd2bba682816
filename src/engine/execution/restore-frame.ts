import type { VisitRef } from '../../events/run-event.js';
import type { VisitEntity } from '../../runs/visit.entity.js';
import type { GraphNode } from '../../workflows/graph/graph-data.js';
import type { Frame } from './frame.js';

export interface RestoredFrame {
  /** Every visit of the frame so far. */
  refs: VisitRef[];
  /** Those that had not ended: they act again, or look again whether what they wait for has come. */
  unfinished: { stored: VisitEntity; node: GraphNode; ref: VisitRef }[];
}

/** Tells a fresh walk what has happened before, in the order in which it happened. */
export function restoreFrame(
  frame: Frame,
  stored: readonly VisitEntity[],
  refOf: (visit: VisitEntity, node: GraphNode) => VisitRef,
): RestoredFrame {
  const restored: RestoredFrame = { refs: [], unfinished: [] };
  const mine = stored.filter((visit) => belongsTo(frame, visit));
  for (const visit of mine) {
    const nodeId = visit.nodeId.slice(frame.prefix.length);
    if (visit.status === 'SKIPPED') frame.walk.skipped(nodeId);
    else frame.walk.planned({ nodeId, sortOrder: visit.sortOrder, predecessors: visit.predecessors });
  }
  for (const visit of mine.toSorted(byEnd)) {
    const nodeId = visit.nodeId.slice(frame.prefix.length);
    const node = frame.walk.node?.(nodeId) ?? frame.graph.node(nodeId);
    if (!node || visit.status === 'SKIPPED') continue;
    const ref = refOf(visit, node);
    restored.refs.push(ref);
    if (visit.status === 'RUNNING' || visit.status === 'WAITING') {
      restored.unfinished.push({ stored: visit, node, ref });
      continue;
    }
    const data = visit.envelope?.data ?? null;
    frame.scope[nodeId] = data;
    frame.walk.ended({
      visitUuid: visit.visitUuid,
      nodeId,
      status: visit.status === 'SUCCESS' ? 'succeeded' : 'failed',
      handle: visit.chosenHandle,
      data,
      error: visit.status === 'SUCCESS' ? null : (visit.envelope?.message ?? null),
    });
  }
  return restored;
}

function belongsTo(frame: Frame, visit: VisitEntity): boolean {
  if (!visit.nodeId.startsWith(frame.prefix)) return false;
  if (visit.nodeId.slice(frame.prefix.length).includes('.')) return false;
  return frame.iterSeq === null || visit.iterSeq === frame.iterSeq;
}

function byEnd(a: VisitEntity, b: VisitEntity): number {
  const [endA, endB] = [a, b].map(({ completedAt }) => completedAt?.getTime() ?? Infinity);
  return endA === endB ? a.sortOrder - b.sortOrder : (endA ?? 0) - (endB ?? 0);
}
