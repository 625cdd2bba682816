import type { VisitLogEntry } from '../../events/run-event.js';

/** Text of a delta larger than this goes out at once, so that nothing grows without bound. */
const MAX_PENDING_CHARACTERS = 16_384;

/**
 * Gathers a visit's streamed text for some tens of milliseconds, so that a token is not a row. The order of
 * everything the visit says is kept: another kind of entry first lets the pending text out.
 */
export class StreamedText {
  #pending: { type: 'thinking' | 'text'; text: string } | null = null;
  #timer: NodeJS.Timeout | null = null;

  constructor(
    private readonly mergeMillis: number,
    private readonly emit: (entry: VisitLogEntry) => void,
  ) {}

  add(entry: VisitLogEntry): void {
    if (entry.type !== 'thinking' && entry.type !== 'text') {
      this.flush();
      this.emit(entry);
      return;
    }
    if (entry.text === '') return;
    if (this.#pending?.type === entry.type) this.#pending.text += entry.text;
    else {
      this.flush();
      this.#pending = { type: entry.type, text: entry.text };
    }
    if (this.#pending.text.length > MAX_PENDING_CHARACTERS) this.flush();
    else this.#timer ??= setTimeout(() => this.flush(), this.mergeMillis);
  }

  /** Lets pending text out now. */
  flush(): void {
    const entry = this.take();
    if (entry) this.emit(entry);
  }

  /** Pending text, for a caller that stores it together with something else. */
  take(): VisitLogEntry | null {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    const entry = this.#pending;
    this.#pending = null;
    return entry;
  }
}
