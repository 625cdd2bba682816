import { newVisitUuid } from '../../common/ids/visit-uuid.js';
import type { VisitRef } from '../../events/run-event.js';
import { failed, type Envelope } from '../../runs/envelope.js';
import type { JournalEntry, VisitChange } from '../../runs/journal/journal-entry.js';
import type { VisitEntity } from '../../runs/visit.entity.js';
import type { PlannedVisit, SkippedNode, WalkNode } from '../walks/walk.js';
import type { Frame } from './frame.js';
import { knownVisits, restoreFrame, visitKey, type KnownVisit } from './restore-frame.js';
import type { StreamedText } from './streamed-text.js';
import type { VisitState } from './visit-state.js';

export interface VisitBookOptions {
  /** The run's visits so far. */
  stored: readonly VisitEntity[];
  /** Visits that may act at the same time, those of items included. */
  slots: number;
  /** Whether a failure of the node ends its item (decision 11). */
  aborts: (node: WalkNode) => boolean;
  textOf: (visit: () => VisitState) => StreamedText;
}

/**
 * The visits of a run as the process that executes it holds them. Turns what happens to them into the rows and events
 * of a journal entry; acts on nothing and stores nothing itself.
 */
export class VisitBook {
  readonly #active = new Map<string, VisitState>();
  readonly #refs = new Map<string, VisitRef>();
  readonly #known: Map<string, KnownVisit>;
  /** Frames with planned visits that had no slot. */
  readonly #starved = new Set<Frame>();
  #lastSortOrder: number;

  constructor(private readonly options: VisitBookOptions) {
    this.#known = knownVisits(options.stored);
    this.#lastSortOrder = options.stored.reduce((most, { sortOrder }) => Math.max(most, sortOrder), 0);
  }

  /** Visits that have begun and not ended. */
  get active(): readonly VisitState[] {
    return [...this.#active.values()];
  }

  get activeCount(): number {
    return this.#active.size;
  }

  isActive(visit: VisitState): boolean {
    return this.#active.has(visit.ref.visitUuid);
  }

  /** Frames whose planned visits wait for a slot that is free now. */
  get hungryFrames(): Frame[] {
    return this.#freeSlots() > 0 ? [...this.#starved] : [];
  }

  get anyStarved(): boolean {
    return this.#starved.size > 0;
  }

  /** Whether an iteration is under way. */
  get walksItems(): boolean {
    return this.active.some(({ items }) => items.size > 0);
  }

  predecessorsOf(visit: VisitState): { nodeId: string; label: string }[] {
    return visit.predecessors.flatMap((uuid) => {
      const ref = this.#refs.get(uuid);
      return ref ? [{ nodeId: ref.nodeId, label: ref.label }] : [];
    });
  }

  /** Lets a frame's walk find what is stored of it; gives the visits that had not ended. */
  restore(frame: Frame, entry: JournalEntry): VisitState[] {
    const endsItem = (visit: KnownVisit, node: WalkNode): boolean =>
      frame.prefix !== '' && (visit.errorCode === 'CANCELLED' || this.options.aborts(node));
    const restored = restoreFrame(frame, this.#known, (visit, node) => refOf(frame, visit, node), endsItem);
    for (const ref of restored.refs) this.#refs.set(ref.visitUuid, ref);
    for (const skipped of restored.skip) this.skip(frame, skipped, entry);
    return restored.unfinished.map(({ known, node, ref }) => {
      const visit = this.#open(frame, node, ref, known.sortOrder, known.predecessors);
      const { tokens, toolCalls, attempt, waiting } = known;
      Object.assign(visit, { tokens, toolCalls, attempt, waiting });
      if (known.status !== 'WAITING' && waiting === null) {
        visit.attempt += 1;
        visit.resumed = known.status === 'RUNNING';
        this.beginAttempt(visit, entry);
      }
      return visit;
    });
  }

  /** A rerun shows what it took over as it would show its own visits. */
  showReused(root: Frame, entry: JournalEntry): void {
    for (const visit of this.options.stored) {
      const node = root.graph.node(visit.nodeId);
      if (!node || !visit.envelope) continue;
      const ref = refOf(root, visit, node);
      const { attempt, sortOrder, predecessors, envelope } = visit;
      entry.events.push({ kind: 'visit-started', visit: ref, attempt, sortOrder, predecessors });
      entry.events.push({ kind: 'visit-ended', visit: ref, status: 'SUCCESS', envelope, errorCode: null });
    }
  }

  /** Records what the frame's walk says follows, as far as there are slots; gives the visits that begin. */
  plan(frame: Frame, entry: JournalEntry): VisitState[] {
    const step = frame.walk.advance();
    for (const skipped of step.skip) this.skip(frame, skipped, entry);
    frame.queue.push(...step.begin);
    const begun: VisitState[] = [];
    for (let free = this.#freeSlots(); free > 0;) {
      const planned = frame.queue.shift();
      if (!planned) break;
      const visit = this.#begin(frame, planned, entry);
      if (!visit) continue;
      begun.push(visit);
      if (needsSlot(visit)) free -= 1;
    }
    if (frame.queue.length > 0) this.#starved.add(frame);
    else this.#starved.delete(frame);
    return begun;
  }

  skip(frame: Frame, { nodeId, because }: SkippedNode, entry: JournalEntry): void {
    const node = frame.walk.node(nodeId);
    if (!node) return;
    const ref = refOf(frame, { visitUuid: newVisitUuid(), iterSeq: frame.iterSeq ?? 1 }, node);
    const skippedBecause = because.map((id) => frame.prefix + id);
    const sortOrder = (this.#lastSortOrder += 1);
    entry.begun?.push({ sortOrder, ...rowOf(ref), status: 'SKIPPED', predecessors: [], skippedBecause });
    entry.events.push({ kind: 'node-skipped', visit: ref, skippedBecause });
    if (frame.prefix === '') return;
    const nothing = { envelope: null, errorCode: null, chosenHandle: null, waiting: null };
    const known = { ...ref, sortOrder, predecessors: [], attempt: 1, tokens: 0, toolCalls: 0, ...nothing };
    this.#known.set(visitKey(ref), { ...known, status: 'SKIPPED' });
  }

  /** The visit acts (again) as its `attempt` says. */
  beginAttempt(visit: VisitState, entry: JournalEntry): void {
    const { attempt, sortOrder, predecessors } = visit;
    entry.changed?.push(changeOf(visit, 'RUNNING'));
    entry.events.push({ kind: 'visit-started', visit: visit.ref, attempt, sortOrder, predecessors });
  }

  /** The visit rests; it stays active. */
  wait(visit: VisitState, entry: JournalEntry): void {
    takeText(visit, entry);
    const waitingFor = visit.waiting ?? {};
    entry.changed?.push({ ...changeOf(visit, 'WAITING'), waiting: waitingFor });
    entry.events.push({ kind: 'visit-waiting', visit: visit.ref, waitingFor });
  }

  /** Iterations whose items all wait rest with them: going on later is not a further attempt. */
  restItems(entry: JournalEntry): void {
    for (const visit of this.active) {
      if (visit.items.size === 0 || visit.waiting !== null) continue;
      visit.waiting = { kind: 'items' };
      entry.changed?.push({ ...changeOf(visit, 'RUNNING'), waiting: visit.waiting });
    }
  }

  /** The visit has ended; it is active no more. */
  end(
    visit: VisitState,
    end: { envelope: Envelope; errorCode: string | null; chosenHandle: string | null },
    entry: JournalEntry,
  ): void {
    if (this.#active.delete(visit.ref.visitUuid)) visit.frame.running -= 1;
    takeText(visit, entry);
    const { envelope, errorCode } = end;
    const status = envelope.status === 200 ? 'SUCCESS' : 'FAILED';
    entry.changed?.push({ ...changeOf(visit, status), ...end });
    entry.events.push({ kind: 'visit-ended', visit: visit.ref, status, envelope, errorCode });
    if (visit.frame.prefix === '') return;
    // An iteration that is tried again in this process finds what its items have done.
    const { ref, sortOrder, predecessors, attempt, tokens, toolCalls } = visit;
    const known = { ...ref, sortOrder, predecessors: [...predecessors], attempt, tokens, toolCalls };
    this.#known.set(visitKey(ref), { ...known, status, waiting: null, ...end });
  }

  cancel(visit: VisitState, why: string, entry: JournalEntry): void {
    const envelope = failed(`cancelled: ${why}`);
    this.end(visit, { envelope, errorCode: 'CANCELLED', chosenHandle: null }, entry);
  }

  /** Visits of items that were open when the run was last left, and that no iteration has come to again. */
  cancelForgotten(why: string, entry: JournalEntry): void {
    for (const { sortOrder, attempt, tokens, toolCalls, ...visit } of this.options.stored) {
      const { visitUuid, nodeId, nodeType, iterSeq, status: last } = visit;
      if ((last !== 'RUNNING' && last !== 'WAITING') || this.#refs.has(visitUuid)) continue;
      const ended = {
        status: 'FAILED',
        envelope: failed(`cancelled: ${why}`),
        errorCode: 'CANCELLED',
      } as const;
      const ref = { visitUuid, nodeId, nodeType, iterSeq, label: nodeId.split('.').at(-1) ?? nodeId };
      entry.changed?.push({ sortOrder, attempt, tokens, toolCalls, ...ended });
      entry.events.push({ kind: 'visit-ended', visit: ref, ...ended });
    }
  }

  /** Nothing of the frame goes on: its visits are cancelled, its planned ones never begin. */
  closeFrame(frame: Frame, why: string, entry: JournalEntry): void {
    frame.over = true;
    this.#starved.delete(frame);
    for (const visit of this.active) {
      if (visit.frame !== frame) continue;
      visit.controller.abort(new Error(why));
      this.cancel(visit, why, entry);
    }
  }

  #freeSlots(): number {
    let free = this.options.slots;
    for (const visit of this.#active.values()) if (needsSlot(visit)) free -= 1;
    return free;
  }

  #begin(frame: Frame, planned: PlannedVisit, entry: JournalEntry): VisitState | null {
    const node = frame.walk.node(planned.nodeId);
    if (!node) return null;
    const place = { visitUuid: newVisitUuid(), iterSeq: frame.iterSeq ?? planned.iterSeq };
    const ref = refOf(frame, place, node);
    this.#refs.set(ref.visitUuid, ref);
    const predecessors = planned.predecessors.length > 0 ? planned.predecessors : [...frame.comesFrom];
    const visit = this.#open(frame, node, ref, (this.#lastSortOrder += 1), predecessors);
    const { sortOrder } = visit;
    entry.begun?.push({ sortOrder, ...rowOf(ref), status: 'RUNNING', predecessors, skippedBecause: null });
    entry.events.push({ kind: 'visit-started', visit: ref, attempt: 1, sortOrder, predecessors });
    return visit;
  }

  #open(
    frame: Frame,
    node: WalkNode,
    ref: VisitRef,
    sortOrder: number,
    predecessors: readonly string[],
  ): VisitState {
    const visit: VisitState = {
      ref,
      node,
      frame,
      sortOrder,
      predecessors,
      status: 'RUNNING',
      attempt: 1,
      resumed: false,
      tokens: 0,
      toolCalls: 0,
      waiting: null,
      wakeAt: null,
      items: new Set(),
      controller: new AbortController(),
      text: this.options.textOf(() => visit),
    };
    this.#active.set(ref.visitUuid, visit);
    frame.running += 1;
    return visit;
  }
}

/** A visit that waits does nothing, and an iteration only waits for its items. */
function needsSlot({ status, node }: VisitState): boolean {
  return status === 'RUNNING' && node.type !== 'iteration';
}

function refOf(frame: Frame, visit: { visitUuid: string; iterSeq: number }, node: WalkNode): VisitRef {
  const { visitUuid, iterSeq } = visit;
  return {
    visitUuid,
    nodeId: frame.prefix + node.id,
    nodeType: node.type,
    label: node.data.label ?? node.id,
    iterSeq,
  };
}

function rowOf({ visitUuid, nodeId, nodeType, iterSeq }: VisitRef) {
  return { visitUuid, nodeId, nodeType, iterSeq };
}

function changeOf(visit: VisitState, status: VisitChange['status']): VisitChange {
  const { sortOrder, attempt, tokens, toolCalls } = visit;
  return { sortOrder, status, attempt, tokens, toolCalls };
}

function takeText(visit: VisitState, entry: JournalEntry): void {
  const pending = visit.text.take();
  if (pending) entry.events.push({ kind: 'visit-logged', visit: visit.ref, entry: pending });
}
