import type { VisitRef } from '../../events/run-event.js';
import type { VisitEntity } from '../../runs/visit.entity.js';
import type { SkippedNode, WalkNode } from '../walks/walk.js';
import type { Frame } from './frame.js';

/** What is known of a visit that began before. */
export type KnownVisit = Pick<
  VisitEntity,
  | 'visitUuid'
  | 'nodeId'
  | 'iterSeq'
  | 'sortOrder'
  | 'predecessors'
  | 'status'
  | 'attempt'
  | 'envelope'
  | 'errorCode'
  | 'chosenHandle'
  | 'waiting'
  | 'tokens'
  | 'toolCalls'
>;

/** Visits by `visitKey`. */
export type KnownVisits = ReadonlyMap<string, KnownVisit>;

/** Tells the visits of a run apart: no two have the same node and number. */
export function visitKey({ nodeId, iterSeq }: Pick<KnownVisit, 'nodeId' | 'iterSeq'>): string {
  return `${nodeId}#${iterSeq}`;
}

export function knownVisits(stored: readonly VisitEntity[]): Map<string, KnownVisit> {
  return new Map(stored.map((visit) => [visitKey(visit), visit]));
}

export interface RestoredFrame {
  /** Every visit of the frame so far. */
  refs: VisitRef[];
  /** Those that had not ended: they act again, or look again whether what they wait for has come. */
  unfinished: { known: KnownVisit; node: WalkNode; ref: VisitRef }[];
  /** Skipped nodes whose record is missing. */
  skip: SkippedNode[];
}

/**
 * Lets a fresh walk plan again, answering with what is known: it decides as it did before, without any node acting
 * again. What it plans beyond that goes to the frame's queue. `endedItem` says of a failed visit that it ended its
 * item: where the item is walked again, that visit acts again.
 */
export function restoreFrame(
  frame: Frame,
  visits: KnownVisits,
  refOf: (visit: KnownVisit, node: WalkNode) => VisitRef,
  endedItem: (visit: KnownVisit, node: WalkNode) => boolean,
): RestoredFrame {
  const restored: RestoredFrame = { refs: [], unfinished: [], skip: [] };
  const find = (nodeId: string, iterSeq: number): KnownVisit | undefined =>
    visits.get(visitKey({ nodeId: frame.prefix + nodeId, iterSeq: frame.iterSeq ?? iterSeq }));
  for (
    let step = frame.walk.advance();
    step.begin.length + step.skip.length > 0;
    step = frame.walk.advance()
  ) {
    restored.skip.push(...step.skip.filter(({ nodeId }) => !find(nodeId, 1)));
    for (const planned of step.begin) {
      const known = find(planned.nodeId, planned.iterSeq);
      const node = frame.walk.node(planned.nodeId);
      if (!known || known.status === 'SKIPPED' || !node) {
        frame.queue.push(planned);
        continue;
      }
      const ref = refOf(known, node);
      restored.refs.push(ref);
      const hasEnded = known.status === 'SUCCESS' || (known.status === 'FAILED' && !endedItem(known, node));
      if (hasEnded) replay(frame, known, planned.nodeId);
      else restored.unfinished.push({ known, node, ref });
    }
  }
  return restored;
}

function replay(frame: Frame, visit: KnownVisit, nodeId: string): void {
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
