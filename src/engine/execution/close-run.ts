import { newVisitUuid } from '../../common/ids/visit-uuid.js';
import type { VisitRef } from '../../events/run-event.js';
import { failed } from '../../runs/envelope.js';
import type { JournalEntry } from '../../runs/journal/journal-entry.js';
import type { HeldRun } from '../../runs/leases/run-leases.js';
import type { VisitEntity } from '../../runs/visit.entity.js';
import type { WorkflowGraph } from '../../workflows/graph/workflow-graph.js';
import type { Walk, WalkNode } from '../walks/walk.js';
import type { AfterEnd } from './after-end.js';
import { neverBegun, openFrame } from './frame.js';
import type { LoadRun } from './load-run.js';
import { knownVisits, restoreFrame } from './restore-frame.js';
import { failure, type RunAbort } from './run-ending.js';

type ClosingEntry = Required<Pick<JournalEntry, 'events' | 'begun' | 'changed'>>;

/**
 * Ends a run that nobody executes, from what is durable of it: visits that had not ended are `FAILED`, nodes that
 * had not begun `SKIPPED`, and the terminal event follows, all in one commit. A run that was started and never came to
 * its first step shows its beginning before that, as every started run does.
 */
export class CloseRun {
  constructor(
    private readonly loadRun: LoadRun,
    private readonly afterEnd: AfterEnd,
  ) {}

  /** `reason` names what a caller may know; why a run cannot be walked any more does not keep it from ending. */
  async execute(held: HeldRun, reason: RunAbort): Promise<void> {
    const { run } = held;
    const { stored, journal } = await this.loadRun.records(held);
    const compiled = await this.loadRun.workflow(held).catch(() => null);
    const walk = compiled?.newWalk();
    const entry: ClosingEntry = { events: [], begun: [], changed: [] };
    if (run.startedAt !== null && journal.committedSeq === 0) {
      entry.events.push({ kind: 'run-started' });
      if (compiled) showReused(entry, stored, compiled.graph);
    }
    endVisits(entry, stored, reason, (nodeId) => walk?.node(nodeId));
    if (compiled && walk) skipNodes(entry, stored, compiled.graph, walk);
    const { end, event } = failure(run.runId, compiled?.workflow.name ?? run.workflowId, reason);
    await journal.record({ ...entry, events: [...entry.events, event], end });
    await this.afterEnd(run, compiled?.graph ?? null);
  }
}

/** As VisitBook.showReused: nothing of the run itself is stored yet, so what has an envelope was taken over. */
function showReused(entry: ClosingEntry, stored: readonly VisitEntity[], graph: WorkflowGraph): void {
  for (const visit of stored) {
    const node = graph.node(visit.nodeId);
    if (!node || !visit.envelope) continue;
    const { attempt, sortOrder, predecessors, envelope } = visit;
    const ref = refOf(visit, node);
    entry.events.push({ kind: 'visit-started', visit: ref, attempt, sortOrder, predecessors });
    entry.events.push({ kind: 'visit-ended', visit: ref, status: 'SUCCESS', envelope, errorCode: null });
  }
}

function endVisits(
  entry: ClosingEntry,
  stored: readonly VisitEntity[],
  reason: RunAbort,
  nodeOf: (nodeId: string) => WalkNode | undefined,
): void {
  for (const visit of stored) {
    if (visit.status !== 'RUNNING' && visit.status !== 'WAITING') continue;
    const { sortOrder, attempt, tokens, toolCalls } = visit;
    const envelope = failed(`cancelled: ${reason.error}`);
    const ended = { status: 'FAILED', envelope, errorCode: 'CANCELLED' } as const;
    entry.changed.push({ sortOrder, attempt, tokens, toolCalls, ...ended });
    entry.events.push({ kind: 'visit-ended', visit: refOf(visit, nodeOf(visit.nodeId)), ...ended });
  }
}

function skipNodes(
  entry: ClosingEntry,
  stored: readonly VisitEntity[],
  graph: WorkflowGraph,
  walk: Walk,
): void {
  let sortOrder = stored.reduce((most, visit) => Math.max(most, visit.sortOrder), 0);
  for (const nodeId of nodesNotBegun(stored, graph, walk)) {
    const node = graph.node(nodeId);
    if (!node) continue;
    const ref = refOf({ visitUuid: newVisitUuid(), nodeId, iterSeq: 1, nodeType: node.type }, node);
    const rest = { status: 'SKIPPED', predecessors: [], skippedBecause: [] } as const;
    entry.begun.push({ sortOrder: (sortOrder += 1), ...rowOf(ref), ...rest });
    entry.events.push({ kind: 'node-skipped', visit: ref, skippedBecause: [] });
  }
}

/** Where the walk itself is what fails: every node without a visit. */
function nodesNotBegun(stored: readonly VisitEntity[], graph: WorkflowGraph, walk: Walk): string[] {
  const root = openFrame({ graph, walk, scope: {}, prefix: '', iterSeq: null, comesFrom: [], settled: null });
  try {
    const restored = restoreFrame(
      root,
      knownVisits(stored),
      (visit, node) => refOf({ ...visit, nodeType: node.type }, node),
      () => false,
    );
    return [...restored.skip.map(({ nodeId }) => nodeId), ...neverBegun(root)];
  } catch {
    const visited = new Set(stored.map(({ nodeId }) => nodeId));
    return graph.nodes.map(({ id }) => id).filter((id) => !visited.has(id));
  }
}

function refOf(
  visit: Pick<VisitEntity, 'visitUuid' | 'nodeId' | 'nodeType' | 'iterSeq'>,
  node: WalkNode | undefined,
): VisitRef {
  const { visitUuid, nodeId, nodeType, iterSeq } = visit;
  return { visitUuid, nodeId, nodeType, iterSeq, label: node?.data.label ?? nodeId };
}

function rowOf({ visitUuid, nodeId, nodeType, iterSeq }: VisitRef) {
  return { visitUuid, nodeId, nodeType, iterSeq };
}
