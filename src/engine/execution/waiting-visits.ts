import type { JsonObject } from '../../common/json/json-value.js';
import type { JournalEntry } from '../../runs/journal/journal-entry.js';
import type { ExecutionInput } from './execution-input.js';
import type { ExecutionServices } from './execution-services.js';
import type { ExecutionState } from './execution-state.js';
import type { Frame } from './frame.js';
import { LeftOnPurposeError } from './left-on-purpose.js';
import type { RunDeadline } from './run-deadline.js';
import { isEmpty, newEntry } from './step-entry.js';
import type { VisitState } from './visit-state.js';
import { WakeClock } from './wake-clock.js';

/** A run with an iteration whose items all wait lies down after that long: it takes reading all its visits to go on. */
const ITEMS_REST_MILLIS = 1000;
/** For a visit that nothing but a call can wake. */
const NEVER = new Date('9999-12-31T00:00:00Z');

/** The execution as the visits that wait in it see it. */
export interface WaitingExecution {
  /** Lets frames other than `fed` have the slots that are free. */
  feed(fed: Frame | null): Promise<void>;
  launch(visit: VisitState): void;
}

/** Keeps the visits that wait until they are due or called, and lets the run rest once nothing in it does anything else. */
export class WaitingVisits {
  readonly #clock = new WakeClock(() => this.#wakeDue());
  #restTimer: NodeJS.Timeout | null = null;
  /** Wake-up calls that its waiting visits have looked after, and those it has heard of. */
  #wakesSeen: number;
  #wakesHeard: number;

  constructor(
    private readonly input: ExecutionInput,
    private readonly services: ExecutionServices,
    private readonly deadline: RunDeadline | null,
    private readonly state: ExecutionState,
    private readonly execution: WaitingExecution,
  ) {
    this.#wakesSeen = this.#wakesHeard = input.lease.wakes;
  }

  async wait(
    visit: VisitState,
    waitingFor: JsonObject,
    wakeAt: Date | null,
    entry: JournalEntry,
  ): Promise<void> {
    const isNews = visit.waiting === null;
    Object.assign(visit, { status: 'WAITING', waiting: waitingFor, wakeAt });
    if (isNews) this.state.book.wait(visit, entry);
    if (this.#mayRest() && !this.state.book.walksItems) return this.#rest(entry);
    if (!isEmpty(entry)) await this.input.journal.record(entry);
    this.state.progressed ||= isNews;
    await this.goOn(null);
  }

  /** After a step: whoever waited for a slot begins, or, where nothing is left but waiting, the run rests. */
  async goOn(fed: Frame | null): Promise<void> {
    await this.execution.feed(fed);
    if (!this.state.goesOn()) return;
    if (this.#mayRest() && !this.state.book.walksItems) return this.#rest(newEntry());
    this.#setClock();
    if (this.#mayRest()) this.#restTimer ??= setTimeout(() => this.#restWithItems(), ITEMS_REST_MILLIS);
  }

  /** Somebody answered, a child ended: waiting visits look again. `wakes` as the lease's renewal shows them. */
  async wake(wakes: number): Promise<void> {
    const { book } = this.state;
    this.#wakesHeard = Math.max(this.#wakesHeard, wakes);
    if (!this.state.goesOn()) return;
    if (book.active.some(({ status }) => status === 'WAITING')) {
      const stored = await this.services.readWaiting(this.input.run.runId);
      if (!this.state.goesOn()) return;
      // A visit that is looking just now may miss what the call is about: it stays unseen, and no rest comes of it.
      if (!book.active.some(isLooking)) this.#wakesSeen = Math.max(this.#wakesSeen, wakes);
      for (const visit of book.active) {
        visit.waiting = stored.get(visit.ref.visitUuid) ?? visit.waiting;
        if (visit.status === 'WAITING') this.#resume(visit);
      }
    } else if (!book.active.some(isLooking)) this.#wakesSeen = Math.max(this.#wakesSeen, wakes);
  }

  /** Something acts: the run does not lie down before it has been still for a while again. */
  stayUp(): void {
    if (this.#restTimer) clearTimeout(this.#restTimer);
    this.#restTimer = null;
  }

  stopClocks(): void {
    this.stayUp();
    this.#clock.stop();
  }

  /** Nothing acts: whatever is open waits, and iterations wait for items that do. */
  #mayRest(): boolean {
    const { active, anyStarved } = this.state.book;
    return (
      active.length > 0 && !anyStarved && active.every((one) => one.status === 'WAITING' || hasOpenItems(one))
    );
  }

  #restWithItems(): void {
    this.#restTimer = null;
    if (this.state.goesOn() && this.#mayRest())
      this.#rest(newEntry()).catch((error: unknown) => this.state.fault(error));
  }

  async #rest(entry: JournalEntry): Promise<void> {
    const { book } = this.state;
    this.state.lieDown();
    book.restItems(entry);
    const wakeAts = book.active.map(({ wakeAt }) => wakeAt ?? NEVER);
    if (this.deadline) wakeAts.push(this.deadline.at);
    const wakeAt = wakeAts.reduce((earliest, one) => (one < earliest ? one : earliest), NEVER);
    await this.input.journal.record({ ...entry, rest: { wakeAt, wakesSeen: this.#wakesSeen } });
    const wasCalled = this.#wakesHeard > this.#wakesSeen;
    this.state.finish({ kind: 'rests', wakeAt: wasCalled ? new Date() : wakeAt });
    // What held the iterations in memory; whoever goes on walks their items anew.
    for (const visit of book.active) visit.controller.abort(new LeftOnPurposeError('the run rests'));
  }

  #setClock(): void {
    if (this.state.isFinished()) return;
    const waiting = this.state.book.active.filter(({ status }) => status === 'WAITING');
    if (waiting.length > 0) this.#clock.set(waiting.flatMap(({ wakeAt }) => wakeAt ?? []));
  }

  #wakeDue(): void {
    if (!this.state.goesOn()) return;
    for (const visit of this.state.book.active) {
      if (visit.status === 'WAITING' && visit.wakeAt && visit.wakeAt.getTime() <= Date.now())
        this.#resume(visit);
    }
    this.#setClock();
  }

  #resume(visit: VisitState): void {
    visit.status = 'RUNNING';
    this.execution.launch(visit);
  }
}

/** Woken, or restored: it looks whether what it waited for has come. */
function isLooking({ status, node, waiting }: VisitState): boolean {
  return status === 'RUNNING' && waiting !== null && node.type !== 'iteration';
}

/** An iteration between the end of an item and what follows from it has more to do than wait. */
function hasOpenItems({ items }: VisitState): boolean {
  return items.size > 0 && [...items].every(({ over }) => !over);
}
