import type { VisitRef } from '../../events/run-event.js';
import type { VisitEntity } from '../../runs/visit.entity.js';
import type { SkippedNode, WalkNode } from '../walks/walk.js';
import type { Frame } from './frame.js';

export interface RestoredFrame {
  /** Every visit of the frame so far. */
  refs: VisitRef[];
  /** Those that had not ended: they act again, or look again whether what they wait for has come. */
  unfinished: { stored: VisitEntity; node: WalkNode; ref: VisitRef }[];
  /** Skipped nodes whose record is missing. */
  skip: SkippedNode[];
}

/**
 * Lets a fresh walk plan again, answering with what is stored: it decides as it did before, without any node
 * acting again. What it plans beyond that goes to the frame's queue.
 */
export function restoreFrame(
  frame: Frame,
  stored: readonly VisitEntity[],
  refOf: (visit: VisitEntity, node: WalkNode) => VisitRef,
): RestoredFrame {
  const restored: RestoredFrame = { refs: [], unfinished: [], skip: [] };
  const known = new Map(
    stored
      .filter((visit) => belongsTo(frame, visit))
      .map((visit) => [key(visit.nodeId.slice(frame.prefix.length), visit.iterSeq), visit]),
  );
  for (
    let step = frame.walk.advance();
    step.begin.length + step.skip.length > 0;
    step = frame.walk.advance()
  ) {
    restored.skip.push(...step.skip.filter(({ nodeId }) => !known.has(key(nodeId, frame.iterSeq ?? 1))));
    for (const planned of step.begin) {
      const visit = known.get(key(planned.nodeId, frame.iterSeq ?? planned.iterSeq));
      const node = frame.walk.node(planned.nodeId);
      if (!visit || !node) {
        frame.queue.push(planned);
        continue;
      }
      const ref = refOf(visit, node);
      restored.refs.push(ref);
      if (visit.status === 'RUNNING' || visit.status === 'WAITING') {
        restored.unfinished.push({ stored: visit, node, ref });
      } else replay(frame, visit, planned.nodeId);
    }
  }
  return restored;
}

function replay(frame: Frame, visit: VisitEntity, nodeId: string): void {
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

function key(nodeId: string, iterSeq: number): string {
  return `${nodeId}#${iterSeq}`;
}

function belongsTo(frame: Frame, visit: VisitEntity): boolean {
  if (!visit.nodeId.startsWith(frame.prefix)) return false;
  if (visit.nodeId.slice(frame.prefix.length).includes('.')) return false;
  return frame.iterSeq === null || visit.iterSeq === frame.iterSeq;
}
