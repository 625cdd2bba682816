import type { ExecutionEnd } from './execution-end.js';
import type { Frame } from './frame.js';
import type { VisitBook } from './visit-book.js';
import type { VisitState } from './visit-state.js';

/**
 * What the parts of an execution share: the run's visits, and whether it still goes on. That is asked by methods, since
 * the compiler takes a property to be after an `await` what it was before.
 */
export class ExecutionState {
  /** Something in the run ended or came to wait. */
  progressed = false;
  /** The run is to end as failed: no visit begins any more. */
  isAborted = false;
  /** Its rest is being stored: what comes now is for whoever holds it next. */
  #isLyingDown = false;
  #end: ExecutionEnd | null = null;
  #finish!: (end: ExecutionEnd) => void;
  /** Resolves with the execution's end; never rejects. */
  readonly finished = new Promise<ExecutionEnd>((resolve) => (this.#finish = resolve));

  constructor(
    readonly root: Frame,
    readonly book: VisitBook,
    private readonly stopClocks: () => void,
  ) {}

  /** This execution has its end, whether or not the run has. */
  isFinished(): boolean {
    return this.#end !== null;
  }

  /** Nothing begins any more, and what visits still do comes to nothing. */
  hasStopped(): boolean {
    return this.#end !== null || this.isAborted;
  }

  isLyingDown(): boolean {
    return this.#isLyingDown;
  }

  goesOn(): boolean {
    return !this.hasStopped() && !this.#isLyingDown;
  }

  /** What comes of the visit no longer counts. */
  isOver(visit: VisitState): boolean {
    return this.hasStopped() || visit.frame.over;
  }

  lieDown(): void {
    this.#isLyingDown = true;
    this.stopClocks();
  }

  /** Only the first end counts. */
  finish(end: ExecutionEnd): void {
    if (this.#end) return;
    this.#end = end;
    this.stopClocks();
    for (const visit of this.book.active) visit.text.take();
    this.#finish(end);
  }

  /** Stops executing without ending the run; whoever holds it next goes on from what is durable. */
  leave(reason: Error): void {
    if (this.#end) return;
    // First: what the nodes do when they are told to stop must not count as an end of theirs.
    this.finish({ kind: 'left', reason, progressed: this.progressed });
    for (const visit of this.book.active) visit.controller.abort(reason);
  }

  /** A write that failed, or a fault of ours: nothing more can be trusted in memory, what is durable can. */
  fault(error: unknown): void {
    this.leave(error instanceof Error ? error : new Error(String(error)));
  }
}
