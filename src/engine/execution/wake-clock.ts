/** A timer holds at most 2^31 ms; a later time is reached in several steps. */
const MAX_WAIT_MILLIS = 2 ** 30;

/** One timer for the earliest of several times. */
export class WakeClock {
  #timer: NodeJS.Timeout | null = null;

  constructor(private readonly ring: () => void) {}

  /** Rings at the earliest of the times, or soon before where that is far off; without any it is silent. */
  set(times: readonly Date[]): void {
    this.stop();
    if (times.length === 0) return;
    const first = Math.min(...times.map((time) => time.getTime()));
    const wait = Math.min(Math.max(0, first - Date.now()), MAX_WAIT_MILLIS);
    this.#timer = setTimeout(this.ring, wait);
  }

  stop(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
  }
}
