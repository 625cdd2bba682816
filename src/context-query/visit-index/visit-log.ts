import type { LogEntry } from '../../events/log-entry.js';

export interface VisitLogLimits {
  readonly maxEntries: number;
  /** UTF-8 bytes of messages and details together. */
  readonly maxBytes: number;
}

/** The most that one answer shows of a visit's log; what memory holds of it is never more. */
export const ANSWERED_LOG_LIMITS: VisitLogLimits = { maxEntries: 10_000, maxBytes: 10 * 1024 ** 2 };

/**
 * A visit's log as callers see it: thinking deltas with no other entry between them are one entry, with the time
 * of the first (decisions.md, details of 29). It takes entries until it is full and says so.
 */
export class VisitLog {
  readonly entries: LogEntry[] = [];
  #bytes = 0;
  #full = false;

  constructor(private readonly limits: VisitLogLimits) {}

  /** UTF-8 bytes held. */
  get bytes(): number {
    return this.#bytes;
  }

  /** An entry did not fit: what is held is only the beginning. */
  get full(): boolean {
    return this.#full;
  }

  append(entry: LogEntry): void {
    if (this.#full) return;
    const bytes = Buffer.byteLength(entry.message) + Buffer.byteLength(entry.detail ?? '');
    const last = this.entries.at(-1);
    const goesOn = last?.type === 'THINKING' && entry.type === 'THINKING';
    if (
      this.#bytes + bytes > this.limits.maxBytes ||
      (!goesOn && this.entries.length === this.limits.maxEntries)
    ) {
      this.#full = true;
      return;
    }
    this.#bytes += bytes;
    if (goesOn) last.message += entry.message;
    else this.entries.push({ ...entry });
  }
}
