import type { Subscription } from 'rxjs';
import { frameEvent, joinFrames, type EventFrame } from './event-frame.js';
import { FrameRing, type RingLimits } from './frame-ring.js';
import { ReadSlots } from './read-slots.js';
import type { RunEventBus } from './run-event-bus.js';
import type { RunEventStore } from './run-event-store.js';
import { TailReader, type FrameSink } from './tail-reader.js';

/** How the live tail behaves; all times in milliseconds. */
export interface LiveTailOptions {
  heartbeatMillis: number;
  /** How often the store is asked about runs of which nothing was heard meanwhile: other processes run them. */
  pollMillis: number;
  /** What is kept in memory of one run that has readers. */
  ring: RingLimits;
  /** Most events and bytes read from the store at once for one reader: what a client that stalls holds in memory. */
  page: { events: number; bytes: number };
  /** Reads of the store at the same time, so that streams never take all connections. */
  concurrentReads: number;
}

export const LIVE_TAIL_DEFAULTS: LiveTailOptions = {
  heartbeatMillis: 15_000,
  pollMillis: 500,
  ring: { frames: 500, bytes: 256 * 1024 },
  page: { events: 500, bytes: 64 * 1024 },
  concurrentReads: 3,
};

/** News that came together are written together, up to this: what one write may add to a stalled client's buffer. */
const WRITE_BYTES = 64 * 1024;
const HEARTBEAT = Buffer.from(': heartbeat\n\n');

/** What is known of one run while it has readers. */
class RunTail {
  readonly readers = new Set<TailReader>();
  readonly ring: FrameRing;
  readonly #fresh: EventFrame[] = [];
  heardAt = 0;

  constructor(limits: RingLimits) {
    this.ring = new FrameRing(limits);
  }

  /**
   * Keeps the frame and hands it to the readers after this turn of the event loop, together with what else comes in
   * it: publishers never wait for readers, and the busier the process is, the fewer writes each event costs.
   */
  take(frame: EventFrame): void {
    if (!this.ring.push(frame)) return;
    if (this.#fresh.length === 0) setImmediate(() => this.#deliver());
    this.#fresh.push(frame);
  }

  #deliver(): void {
    for (const frame of joinFrames(this.#fresh.splice(0), WRITE_BYTES)) {
      for (const reader of this.readers) reader.offer(frame);
    }
  }
}

/**
 * Serves the events of runs to any number of readers, each from its own cursor and at its own pace: from a
 * bounded tail in memory while it keeps up, from the store when it is behind. Nothing is queued per reader. Runs
 * that another process executes are followed through the store.
 */
export class LiveTail {
  readonly #tails = new Map<string, RunTail>();
  readonly #pages = new Map<string, Promise<EventFrame[]>>();
  readonly #slots: ReadSlots;
  readonly #store: RunEventStore;
  readonly #options: LiveTailOptions;
  readonly #report: (message: string, error: unknown) => void;
  readonly #subscription: Subscription;
  readonly #timers: NodeJS.Timeout[];
  #polling: Promise<void> | null = null;
  #closed = false;

  constructor(
    bus: RunEventBus,
    store: RunEventStore,
    report: (message: string, error: unknown) => void,
    options: Partial<LiveTailOptions> = {},
  ) {
    this.#store = store;
    this.#report = report;
    this.#options = { ...LIVE_TAIL_DEFAULTS, ...options };
    this.#slots = new ReadSlots(this.#options.concurrentReads);
    this.#subscription = bus.subscribe('live tail', (event) => {
      const tail = this.#tails.get(event.runId);
      if (!tail) return;
      tail.heardAt = Date.now();
      tail.take(frameEvent(event));
    });
    this.#timers = [
      setInterval(() => this.#heartbeat(), this.#options.heartbeatMillis),
      setInterval(() => this.#poll(), this.#options.pollMillis),
    ];
  }

  /** Number of readers now; 0 when nobody listens. */
  get readers(): number {
    let count = 0;
    for (const tail of this.#tails.values()) count += tail.readers.size;
    return count;
  }

  /** Where a run's events stand: the newest number, and whether it is the run's last. */
  position(runId: string): Promise<{ seq: number; finished: boolean }> {
    return this.#slots.run(() => this.#store.position(runId));
  }

  /**
   * Writes the events after `cursor` to `sink`, now and as they happen, and ends it after the run's last one.
   * `known` is a number up to which the store holds the run's events. The caller calls the returned function
   * when the sink is gone.
   */
  read(runId: string, cursor: number, known: number, sink: FrameSink): () => void {
    if (this.#closed) {
      sink.end();
      return () => undefined;
    }
    const tail = this.#tailOf(runId);
    if (tail.ring.newest === null) tail.ring.advanceTo(known);
    const leave = (): void => {
      reader.close();
      tail.readers.delete(reader);
      if (tail.readers.size === 0 && this.#tails.get(runId) === tail) this.#tails.delete(runId);
    };
    const reader = new TailReader(cursor, sink, {
      after: (seq) => tail.ring.after(seq),
      page: (seq) => this.#page(runId, seq),
      done: leave,
      failed: (error) => {
        this.#report(`the events of run ${runId} could not be read for a stream`, error);
        leave();
      },
    });
    tail.readers.add(reader);
    reader.start();
    return leave;
  }

  /** Says that the run has events up to `seq` in the store, written by another process. */
  announce(runId: string, seq: number): void {
    const tail = this.#tails.get(runId);
    if (!tail || (tail.ring.newest ?? 0) >= seq) return;
    void this.#catchUp(runId, tail, seq).catch((error: unknown) =>
      this.#report(`the events of run ${runId} could not be read`, error),
    );
  }

  /** Ends every stream; clients reconnect by themselves, to another server or after the restart. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#subscription.unsubscribe();
    for (const timer of this.#timers) clearInterval(timer);
    for (const tail of this.#tails.values()) {
      for (const reader of [...tail.readers]) reader.stop();
    }
    this.#tails.clear();
    await this.#polling;
  }

  #tailOf(runId: string): RunTail {
    const known = this.#tails.get(runId);
    if (known) return known;
    const tail = new RunTail(this.#options.ring);
    this.#tails.set(runId, tail);
    return tail;
  }

  /** One read for all readers that stand at the same place: they share the bytes as well. */
  #page(runId: string, cursor: number): Promise<EventFrame[]> {
    const key = `${runId}:${cursor}`;
    const pending = this.#pages.get(key);
    if (pending) return pending;
    const { events, bytes } = this.#options.page;
    const page = this.#slots
      .run(() => this.#store.readPage(runId, cursor, events, bytes))
      .then((stored) => stored.map(frameEvent))
      .finally(() => this.#pages.delete(key));
    this.#pages.set(key, page);
    return page;
  }

  #heartbeat(): void {
    for (const tail of this.#tails.values()) {
      for (const reader of tail.readers) reader.heartbeat(HEARTBEAT);
    }
  }

  #poll(): void {
    if (this.#polling) return;
    const quietSince = Date.now() - this.#options.pollMillis;
    const quiet = [...this.#tails].filter(([, tail]) => tail.heardAt < quietSince).map(([runId]) => runId);
    if (quiet.length === 0) return;
    this.#polling = this.#follow(quiet)
      .catch((error: unknown) => this.#report('runs of other processes could not be followed', error))
      .finally(() => (this.#polling = null));
  }

  async #follow(runIds: string[]): Promise<void> {
    const latest = await this.#slots.run(() => this.#store.latestSeqs(runIds));
    for (const [runId, seq] of latest) {
      const tail = this.#tails.get(runId);
      if (tail && (tail.ring.newest ?? 0) < seq) await this.#catchUp(runId, tail, seq);
    }
  }

  async #catchUp(runId: string, tail: RunTail, seq: number): Promise<void> {
    while (tail.readers.size > 0 && (tail.ring.newest ?? 0) < seq) {
      const frames = await this.#page(runId, tail.ring.newest ?? 0);
      if (frames.length === 0) return;
      for (const frame of frames) tail.take(frame);
    }
  }
}
