import { randomUUID } from 'node:crypto';
import type { VisitRef } from '../../events/run-event.js';
import { failed } from '../../runs/envelope.js';
import type { JournalEntry } from '../../runs/journal/journal-entry.js';
import type { HeldRun } from '../../runs/leases/run-leases.js';
import type { VisitEntity } from '../../runs/visit.entity.js';
import type { WalkNode } from '../walks/walk.js';
import type { AfterEnd, ExecuteRun } from './execute-run.js';
import { openFrame } from './frame.js';
import { knownVisits, restoreFrame } from './restore-frame.js';
import { failure, type RunAbort } from './run-ending.js';
import type { ExecutionInput } from './run-execution.js';

/**
 * Ends a run that nobody executes, from what is durable of it: visits that had not ended are `FAILED`, nodes that
 * had not begun `SKIPPED`, and the terminal event follows, all in one commit.
 */
export class CloseRun {
  constructor(
    private readonly executeRun: ExecuteRun,
    private readonly afterEnd: AfterEnd,
  ) {}

  async execute(held: HeldRun, reason: RunAbort): Promise<void> {
    const input = await this.executeRun.load(held);
    await input.journal.record(closingEntry(input, reason));
    await this.afterEnd(input.run, input.graph);
  }
}

function closingEntry(input: ExecutionInput, reason: RunAbort): JournalEntry {
  const { run, workflow, walk, graph, stored } = input;
  const entry: Required<Pick<JournalEntry, 'events' | 'begun' | 'changed'>> = {
    events: [],
    begun: [],
    changed: [],
  };
  const root = openFrame({
    graph,
    walk,
    scope: {},
    prefix: '',
    iterSeq: null,
    settled: null,
  });
  const restored = restoreFrame(
    root,
    knownVisits(stored),
    (visit, node) => refOf({ ...visit, nodeType: node.type }, node),
    () => false,
  );
  for (const visit of stored) {
    if (visit.status !== 'RUNNING' && visit.status !== 'WAITING') continue;
    const { sortOrder, attempt, tokens, toolCalls } = visit;
    const envelope = failed(`cancelled: ${reason.error}`);
    const ended = { status: 'FAILED', envelope, errorCode: 'CANCELLED' } as const;
    entry.changed.push({ sortOrder, attempt, tokens, toolCalls, ...ended });
    entry.events.push({ kind: 'visit-ended', visit: refOf(visit, walk.node(visit.nodeId)), ...ended });
  }
  let sortOrder = stored.reduce((most, visit) => Math.max(most, visit.sortOrder), 0);
  const notBegun = [...restored.skip, ...root.queue].map(({ nodeId }) => nodeId);
  for (const nodeId of [...notBegun, ...walk.undecided()]) {
    const node = graph.node(nodeId);
    if (!node) continue;
    const ref = refOf({ visitUuid: randomUUID(), nodeId, iterSeq: 1, nodeType: node.type }, node);
    const rest = { status: 'SKIPPED', predecessors: [], skippedBecause: [] } as const;
    entry.begun.push({ sortOrder: (sortOrder += 1), ...rowOf(ref), ...rest });
    entry.events.push({ kind: 'node-skipped', visit: ref, skippedBecause: [] });
  }
  const { end, event } = failure(run.runId, workflow.name, reason);
  return { ...entry, events: [...entry.events, event], end };
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
