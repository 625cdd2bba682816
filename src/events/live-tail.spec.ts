import fc from 'fast-check';
import { frameEvent } from './event-frame.js';
import { LiveTail, type LiveTailOptions } from './live-tail.js';
import { RunEventBus } from './run-event-bus.js';
import type { StoredStreamEvent } from './run-event-store.js';
import type { RunEventStore } from './run-event-store.js';
import type { RecordedRunEvent } from './run-event.js';
import type { FrameSink } from './tail-reader.js';

const RUN = 'run1';

/** A store in memory; `reads` counts its queries, `atOnce` the most at the same time. */
class MemoryStore {
  readonly events: StoredStreamEvent[] = [];
  reads = 0;
  atOnce = 0;
  failing = false;
  #open = 0;

  async readPage(
    _runId: string,
    after: number,
    limit: number,
    maxBytes: number,
  ): Promise<StoredStreamEvent[]> {
    this.reads += 1;
    this.#open += 1;
    this.atOnce = Math.max(this.atOnce, this.#open);
    await new Promise(setImmediate);
    this.#open -= 1;
    if (this.failing) throw new Error('no database');
    const page: StoredStreamEvent[] = [];
    let bytes = 0;
    for (const event of this.events.slice(after, after + limit)) {
      if (bytes >= maxBytes) break;
      page.push(event);
      bytes += event.payload.length;
    }
    return page;
  }

  async latestSeqs(runIds: string[]): Promise<Map<string, number>> {
    await new Promise(setImmediate);
    return new Map(runIds.map((runId) => [runId, this.events.length]));
  }

  position() {
    return Promise.resolve({ seq: this.events.length, finished: false });
  }
}

/** A client that takes `room` writes before it wants a drain. */
class Client implements FrameSink {
  readonly seqs: number[] = [];
  readonly ended: Promise<void>;
  heartbeats = 0;
  destroyed = false;
  room = Infinity;
  pending = 0;
  /** Drains by itself, on the next tick as sockets do. */
  quick = false;
  maxPending = 0;
  #end!: () => void;
  #drained: (() => void)[] = [];

  constructor() {
    this.ended = new Promise((resolve) => (this.#end = resolve));
  }

  write(bytes: Buffer): boolean {
    const ids = [...bytes.toString().matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id));
    if (ids.length === 0) this.heartbeats += 1;
    this.seqs.push(...ids);
    this.pending += 1;
    this.maxPending = Math.max(this.maxPending, this.pending);
    if (this.quick && this.pending === this.room) process.nextTick(() => this.drain());
    return this.pending < this.room;
  }

  drain(): void {
    this.pending = 0;
    for (const listener of this.#drained) listener();
  }

  onDrain(listener: () => void): void {
    this.#drained.push(listener);
  }

  end(): void {
    this.#end();
  }

  destroy(): void {
    this.destroyed = true;
    this.#end();
  }
}

describe('LiveTail', () => {
  let store: MemoryStore;
  let bus: RunEventBus;
  let tails: LiveTail[];
  const reports: string[] = [];

  beforeEach(() => {
    store = new MemoryStore();
    bus = new RunEventBus();
    tails = [];
    reports.length = 0;
  });
  afterEach(async () => {
    await Promise.all(tails.map((tail) => tail.close()));
  });

  function tailOf(options: Partial<LiveTailOptions> = {}, of: MemoryStore = store): LiveTail {
    const tail = new LiveTail(bus, of as unknown as RunEventStore, (message) => reports.push(message), {
      heartbeatMillis: 3_600_000,
      pollMillis: 3_600_000,
      ...options,
    });
    tails.push(tail);
    return tail;
  }

  /** Stores an event; `local` ones reach the bus of this process as well. */
  function happen({ last = false, local = true, payload = '{}' } = {}): void {
    const seq = store.events.length + 1;
    const type = last ? 'workflow_complete' : 'node_stream';
    store.events.push({ seq, type, payload });
    if (local) bus.publish({ runId: RUN, seq, type, payload } as unknown as RecordedRunEvent);
  }

  const upTo = (last: number, first = 1) => Array.from({ length: last - first + 1 }, (_, at) => first + at);
  const settled = async (): Promise<void> => {
    for (let round = 0; round < 20; round += 1) await new Promise(setImmediate);
  };

  it('replays a finished run from the store and ends', async () => {
    for (let at = 1; at <= 1200; at += 1) happen({ last: at === 1200 });
    const client = new Client();
    const tail = tailOf();
    tail.read(RUN, 0, 1200, client);
    await client.ended;
    expect(client.seqs).toEqual(upTo(1200));
    expect(tail.readers).toBe(0);
  });

  it('writes what happens without reading the store', async () => {
    const client = new Client();
    const tail = tailOf();
    tail.read(RUN, 0, 0, client);
    await settled();
    const before = store.reads;
    for (let at = 1; at <= 100; at += 1) {
      happen({ last: at === 100 });
      await new Promise(setImmediate);
      expect(client.seqs.at(-1)).toBe(at);
    }
    await client.ended;
    expect(store.reads).toBe(before);
  });

  it('hands every reader the same bytes', async () => {
    const frames: Buffer[] = [];
    const tail = tailOf();
    for (let reader = 0; reader < 3; reader += 1) {
      const client = new Client();
      const write = client.write.bind(client);
      client.write = (bytes) => (frames.push(bytes), write(bytes));
      tail.read(RUN, 0, 0, client);
    }
    await settled();
    happen({ last: true });
    await settled();
    expect(frames).toHaveLength(3);
    expect(new Set(frames).size).toBe(1);
    expect(frames[0]).toEqual(frameEvent({ seq: 1, type: 'workflow_complete', payload: '{}' }).bytes);
  });

  it('never writes more than a page to a client that does not read, and loses nothing', async () => {
    const client = new Client();
    client.room = 3;
    const tail = tailOf({
      ring: { frames: 10, bytes: 1e6 },
      page: { events: 20, bytes: 1e6 },
      heartbeatMillis: 1,
    });
    tail.read(RUN, 0, 0, client);
    await settled();
    for (let at = 1; at <= 500; at += 1) happen({ last: at === 500 });
    await settled();
    while (tail.readers > 0) {
      client.drain();
      await settled();
      expect(client.maxPending).toBeLessThanOrEqual(3 + 20);
    }
    expect(client.seqs).toEqual(upTo(500));
  });

  it('goes on after a drain that comes at once, with nothing more happening', async () => {
    const client = new Client();
    client.room = 2;
    client.quick = true;
    const tail = tailOf();
    tail.read(RUN, 0, 0, client);
    await settled();
    for (let at = 1; at <= 20; at += 1) happen({ last: at === 20 });
    await client.ended;
    expect(client.seqs).toEqual(upTo(20));
  });

  it('reads the store once for readers that stand at the same place, and at most so often at once', async () => {
    for (let at = 1; at <= 50; at += 1) happen();
    const tail = tailOf({ concurrentReads: 2 });
    const together = Array.from({ length: 100 }, () => new Client());
    for (const client of together) tail.read(RUN, 0, 50, client);
    await settled();
    expect(store.reads).toBeLessThanOrEqual(3);
    const apart = Array.from({ length: 30 }, () => new Client());
    apart.forEach((client, at) => tail.read(RUN, at, 50, client));
    await settled();
    await settled();
    for (const client of together) expect(client.seqs).toEqual(upTo(50));
    apart.forEach((client, at) => expect(client.seqs).toEqual(upTo(50, at + 1)));
    expect(store.atOnce).toBeLessThanOrEqual(2);
  });

  it('follows a run of another process through the store', async () => {
    const client = new Client();
    const tail = tailOf({ pollMillis: 1 });
    tail.read(RUN, 0, 0, client);
    for (let at = 1; at <= 700; at += 1) happen({ local: false, last: at === 700 });
    await client.ended;
    expect(client.seqs).toEqual(upTo(700));
  });

  it('goes to the store at once when another process announces news', async () => {
    const client = new Client();
    const tail = tailOf();
    tail.read(RUN, 0, 0, client);
    await settled();
    happen({ local: false });
    happen({ local: false, last: true });
    tail.announce(RUN, 2);
    await client.ended;
    expect(client.seqs).toEqual([1, 2]);
  });

  it('cuts a reader off, and only it, when the store fails', async () => {
    for (let at = 1; at <= 5; at += 1) happen();
    const tail = tailOf();
    const live = new Client();
    tail.read(RUN, 5, 5, live);
    await settled();
    store.failing = true;
    const behind = new Client();
    tail.read(RUN, 0, 5, behind);
    await behind.ended;
    expect(behind.destroyed).toBe(true);
    expect(reports).toHaveLength(1);
    happen({ last: true });
    await live.ended;
    expect(live.seqs).toEqual([6]);
  });

  it('sends heartbeats to those who read, and none to the others', async () => {
    const reading = new Client();
    const stalled = new Client();
    stalled.room = 1;
    const tail = tailOf({ heartbeatMillis: 1 });
    tail.read(RUN, 0, 0, reading);
    tail.read(RUN, 0, 0, stalled);
    while (reading.heartbeats < 5) await settled();
    expect(stalled.heartbeats).toBe(1);
  });

  it('forgets readers that leave, and ends the others when the server stops', async () => {
    const tail = tailOf();
    const leaving = new Client();
    const staying = new Client();
    const leave = tail.read(RUN, 0, 0, leaving);
    tail.read(RUN, 0, 0, staying);
    await settled();
    leave();
    expect(tail.readers).toBe(1);
    happen();
    await settled();
    expect([leaving.seqs, staying.seqs]).toEqual([[], [1]]);
    await tail.close();
    await staying.ended;
    expect(tail.readers).toBe(0);
    const late = new Client();
    tail.read(RUN, 0, 0, late);
    await late.ended;
  });

  it('gives every reader every event once and in order, whenever it comes and however slow it is', async () => {
    const step = fc.oneof(
      { weight: 4, arbitrary: fc.constant({ do: 'happen' as const, local: true }) },
      { weight: 1, arbitrary: fc.constant({ do: 'happen' as const, local: false }) },
      {
        weight: 2,
        arbitrary: fc.record({
          do: fc.constant('join' as const),
          room: fc.integer({ min: 1, max: 5 }),
          from: fc.nat(1000),
          quick: fc.boolean(),
        }),
      },
      { weight: 2, arbitrary: fc.constant({ do: 'drain' as const }) },
      { weight: 2, arbitrary: fc.constant({ do: 'settle' as const }) },
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 60 }),
        fc.constantFrom(1, 3, 8, 100),
        async (steps, frames) => {
          store = new MemoryStore();
          bus = new RunEventBus();
          const tail = tailOf({
            pollMillis: 1,
            ring: { frames, bytes: 1e6 },
            page: { events: 3, bytes: 1e6 },
            concurrentReads: 2,
          });
          const clients: { client: Client; from: number }[] = [];
          for (const one of steps) {
            if (one.do === 'happen') happen({ local: one.local });
            else if (one.do === 'join') {
              const known = store.events.length;
              const from = Math.min(one.from, known);
              const client = new Client();
              client.room = one.room;
              client.quick = one.quick;
              tail.read(RUN, from, known, client);
              clients.push({ client, from });
            } else if (one.do === 'drain') for (const { client } of clients) client.drain();
            else await settled();
          }
          happen({ last: true });
          while (tail.readers > 0) {
            for (const { client } of clients) client.drain();
            await settled();
          }
          const count = store.events.length;
          for (const { client, from } of clients) expect(client.seqs).toEqual(upTo(count, from + 1));
          await tail.close();
        },
      ),
      { numRuns: 100 },
    );
  });
});
