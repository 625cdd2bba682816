import type { DataSource } from 'typeorm';

const BEAT_MILLIS = 5_000;

/** A process that was silent for so long is taken to be gone. */
export const OWNER_LOST_SECONDS = 30;

/**
 * Tells other processes that this one is alive while it has calls under way: one small write every few seconds for
 * all of them, instead of a lease for each.
 */
export class CallOwners {
  #calls = 0;
  #timer: NodeJS.Timeout | null = null;

  constructor(
    readonly me: string,
    private readonly dataSource: DataSource,
    private readonly onError: (error: unknown) => void,
  ) {}

  begin(): void {
    this.#calls += 1;
    if (this.#timer) return;
    this.#beat();
    this.#timer = setInterval(() => {
      if (this.#calls > 0) this.#beat();
      else this.stop();
    }, BEAT_MILLIS).unref();
  }

  end(): void {
    this.#calls -= 1;
  }

  stop(): void {
    if (this.#timer) clearInterval(this.#timer);
    this.#timer = null;
  }

  #beat(): void {
    this.dataSource
      .query(
        `INSERT INTO runtime_call_owners (owner, seen_at) VALUES ($1, now())
         ON CONFLICT (owner) DO UPDATE SET seen_at = excluded.seen_at`,
        [this.me],
      )
      .catch(this.onError);
  }
}
