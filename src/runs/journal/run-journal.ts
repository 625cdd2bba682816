import type { RecordedRunEvent } from '../../events/run-event.js';
import { projectEvent } from '../../events/stream-payload.js';
import type { PreparedEntry } from './commit-rows.js';
import type { RunOpening } from '../leases/run-opening.js';
import type { JournalEntry } from './journal-entry.js';
import { LeaseLostError } from './journal-errors.js';

/** An entry waiting for its commit, with the journal that numbers it. */
export interface JournalMember {
  journal: RunJournal;
  entry: JournalEntry;
}

/**
 * The write side of one run under one lease. Numbers the run's events in the order in which they become durable,
 * without gaps: the number is given when the entry goes into a commit, and taken back when that commit fails.
 */
export class RunJournal {
  #committedSeq: number;
  #refused: Error | null = null;

  constructor(
    readonly runId: string,
    readonly epoch: number,
    latestSeq: number,
    private readonly submit: (member: JournalMember) => Promise<void>,
    /** What its first entry does beside. */
    private readonly opening?: RunOpening,
  ) {
    this.#committedSeq = latestSeq;
  }

  /** Why nothing more can be written under this lease; null while it holds. */
  get refused(): Error | null {
    return this.#refused;
  }

  /** Resolves when the entry is durable. Throws LeaseLostError, JournalUnavailableError or the database's error. */
  async record(entry: JournalEntry): Promise<void> {
    if (this.#refused) throw this.#refused;
    this.opening?.try();
    await this.submit({ journal: this, entry });
  }

  /** Gives numbers from `firstSeq` on and serialises the events once for all readers. */
  prepare(entry: JournalEntry, firstSeq: number, at: string): PreparedEntry {
    return {
      runId: this.runId,
      epoch: this.epoch,
      opening: this.opening?.isOpen ? this.opening : null,
      at,
      firstSeq,
      projections: entry.events.map((event) => projectEvent(this.runId, event, at)),
      entry,
    };
  }

  get committedSeq(): number {
    return this.#committedSeq;
  }

  /** The entry is durable; gives its events as the bus hands them on. */
  committed(prepared: PreparedEntry): RecordedRunEvent[] {
    const { projections, firstSeq, entry, at } = prepared;
    this.#committedSeq = firstSeq + projections.length - 1;
    this.opening?.succeed();
    return entry.events.flatMap((event, index) => {
      const projection = projections[index];
      if (!projection) return [];
      const { type, payload } = projection;
      return [{ runId: this.runId, seq: firstSeq + index, type, timestamp: at, payload, event }];
    });
  }

  /** Nothing is written after a refusal: a later entry must not become durable without an earlier one. */
  refuse(error: Error): void {
    this.#refused ??= error;
    this.opening?.fail();
  }

  loseLease(): LeaseLostError {
    const error = new LeaseLostError(this.runId);
    this.refuse(error);
    return error;
  }
}
