import type { JournalEntry } from '../../runs/journal/journal-entry.js';
import type { WalkOutcome } from '../walks/walk.js';
import type { ExecutionInput } from './execution-input.js';
import type { ExecutionServices } from './execution-services.js';
import type { ExecutionState } from './execution-state.js';
import { neverBegun } from './frame.js';
import type { RunDeadline } from './run-deadline.js';
import { failure, success, type RunAbort } from './run-ending.js';
import { newEntry } from './step-entry.js';
import { WakeClock } from './wake-clock.js';

/** Ends the run that is being executed: as its walk says, or before that, for a reason or because its time is up. */
export class RunClosing {
  readonly #clock = new WakeClock(() => this.#checkTime());

  constructor(
    private readonly input: ExecutionInput,
    private readonly services: ExecutionServices,
    private readonly deadline: RunDeadline | null,
    private readonly state: ExecutionState,
    private readonly acting: { stopped(): Promise<void> },
  ) {}

  /** From now on the run ends when its time is up. */
  startClock(): void {
    if (this.deadline) this.#clock.set([this.deadline.at]);
  }

  stopClock(): void {
    this.#clock.stop();
  }

  /** The walk is over. */
  async endRun(outcome: WalkOutcome, entry: JournalEntry): Promise<void> {
    if (outcome.kind === 'failure') {
      const { reason, error, nodeId, visitUuid } = outcome;
      this.abortWith({ statusReason: reason, error, nodeId, visitUuid, code: reason }, entry);
      return;
    }
    const { run, workflow } = this.input;
    const files = await this.services.workspaces.listFiles(run.runId);
    if (this.state.isFinished()) return;
    this.state.book.cancelForgotten('the run ended', entry);
    const { end, event } = success(run.runId, workflow.name, outcome.outputs, files);
    await this.#recordEnd({ ...entry, end, events: [...entry.events, event] });
  }

  /** Ends the run as failed: no visit begins any more, running ones are told to stop. */
  abort(reason: RunAbort): void {
    // Its last step is being stored: the run has ended, only nobody knows it yet.
    if (this.state.root.over || this.state.isLyingDown()) return;
    this.abortWith(reason, newEntry());
  }

  /** Aborts in the course of a step; `entry` is what led to it. */
  abortWith(reason: RunAbort, entry: JournalEntry): void {
    if (this.state.hasStopped()) return;
    this.state.isAborted = true;
    for (const visit of this.state.book.active) visit.controller.abort(new Error(reason.error));
    this.#closeAfterAbort(reason, entry).catch((error: unknown) => this.state.fault(error));
  }

  async #closeAfterAbort(reason: RunAbort, entry: JournalEntry): Promise<void> {
    const { book, root } = this.state;
    await this.acting.stopped();
    for (const visit of book.active) book.cancel(visit, reason.error, entry);
    book.cancelForgotten(reason.error, entry);
    const because = reason.nodeId === null ? [] : [reason.nodeId];
    const notBegun = neverBegun(root);
    for (const nodeId of notBegun) book.skip(root, { nodeId, because }, entry);
    const { end, event } = failure(this.input.run.runId, this.input.workflow.name, reason);
    entry.events.push(event);
    await this.#recordEnd({ ...entry, end });
  }

  async #recordEnd(entry: JournalEntry): Promise<void> {
    await this.input.journal.record(entry);
    this.state.finish({ kind: 'ended' });
  }

  #checkTime(): void {
    if (!this.deadline) return;
    if (this.deadline.at.getTime() <= Date.now()) this.abort(this.deadline.abort);
    else this.startClock();
  }
}
