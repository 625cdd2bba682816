import type { EventFrame } from './event-frame.js';

/** What a ring may hold; the oldest frames go first. */
export interface RingLimits {
  frames: number;
  bytes: number;
}

/**
 * The newest frames of one run, without a gap between them. Readers that keep up are served from it; the others
 * read the store until they have caught up.
 */
export class FrameRing {
  #frames: EventFrame[] = [];
  #bytes = 0;
  #newest: number | null = null;
  readonly #limits: RingLimits;

  constructor(limits: RingLimits) {
    this.#limits = limits;
  }

  /** Number of the newest event it knows of; null before it knows any. */
  get newest(): number | null {
    return this.#newest;
  }

  /** Says that the events up to `seq` are in the store, unless more is known already. */
  advanceTo(seq: number): void {
    if (this.#newest !== null && this.#newest >= seq) return;
    this.#frames = [];
    this.#bytes = 0;
    this.#newest = seq;
  }

  /** False when the event was there before. A gap before it empties the ring. */
  push(frame: EventFrame): boolean {
    if (this.#newest !== null && frame.seq <= this.#newest) return false;
    this.advanceTo(frame.seq - 1);
    this.#frames.push(frame);
    this.#bytes += frame.bytes.length;
    this.#newest = frame.seq;
    this.#trim();
    return true;
  }

  /** The frames after `cursor`; null when some of them are no longer, or not yet, here. */
  after(cursor: number): readonly EventFrame[] | null {
    if (this.#newest === null) return null;
    if (cursor >= this.#newest) return [];
    const first = this.#frames[0];
    if (first === undefined || cursor < first.seq - 1) return null;
    return this.#frames.slice(cursor - first.seq + 1);
  }

  #trim(): void {
    let drop = 0;
    // The newest frame stays, however large: a reader that keeps up must find it.
    while (
      this.#frames.length - drop > 1 &&
      (this.#bytes > this.#limits.bytes || this.#frames.length - drop > this.#limits.frames)
    ) {
      this.#bytes -= this.#frames[drop]?.bytes.length ?? 0;
      drop += 1;
    }
    // Dropping one at a time would copy the array for every event of a full ring.
    if (drop > 0) this.#frames = this.#frames.slice(drop);
  }
}
