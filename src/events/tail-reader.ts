import type { EventFrame } from './event-frame.js';

/** Where a reader's bytes go: an HTTP response. */
export interface FrameSink {
  /** False: the client is behind; `onDrain` listeners are called when it can take more. */
  write(bytes: Buffer): boolean;
  onDrain(listener: () => void): void;
  /** Ends the response after what has been written. */
  end(): void;
  /** Cuts the connection: the client sees that something is missing and reconnects. */
  destroy(): void;
}

export interface TailSource {
  /** The frames after a number, from memory; null when the store must be read. */
  after(seq: number): readonly EventFrame[] | null;
  /** The next frames after a number from the store; none when there are no more. */
  page(seq: number): Promise<readonly EventFrame[]>;
  /** The run's last event has been written, or the reader was ended. */
  done(): void;
  failed(error: unknown): void;
}

/** One reader of one run: a cursor and a sink, nothing else. */
export class TailReader {
  #cursor: number;
  readonly #sink: FrameSink;
  readonly #source: TailSource;
  #blocked = false;
  #pumping = false;
  /** An event or a drain came while it was catching up. */
  #missed = false;
  #closed = false;

  constructor(cursor: number, sink: FrameSink, source: TailSource) {
    this.#cursor = cursor;
    this.#sink = sink;
    this.#source = source;
    sink.onDrain(() => {
      this.#blocked = false;
      // A drain comes before the promise of the pass that filled the buffer has settled.
      if (this.#pumping) this.#missed = true;
      else this.#pump();
    });
  }

  start(): void {
    this.#pump();
  }

  /** News of the run. Written at once when the reader has kept up; otherwise it comes to it by itself. */
  offer(frame: EventFrame): void {
    if (this.#pumping) {
      this.#missed = true;
    } else if (!this.#closed && !this.#blocked) {
      if (frame.first === this.#cursor + 1) this.#write(frame);
      else if (frame.seq > this.#cursor) this.#pump();
    }
  }

  /** A client that does not read gets no heartbeats either: they would pile up. */
  heartbeat(bytes: Buffer): void {
    if (!this.#closed && !this.#blocked) this.#blocked = !this.#sink.write(bytes);
  }

  /** Ends the stream before the run does. A client that does not read would hold up the server's end: it is cut. */
  stop(): void {
    if (this.#closed) return;
    if (this.#blocked) this.#sink.destroy();
    this.#end();
  }

  /** The sink is gone. */
  close(): void {
    this.#closed = true;
  }

  #write(frame: EventFrame): void {
    this.#cursor = frame.seq;
    this.#blocked = !this.#sink.write(frame.bytes);
    if (frame.last) this.#end();
  }

  #end(): void {
    this.#closed = true;
    this.#sink.end();
    this.#source.done();
  }

  #pump(): void {
    if (this.#pumping || this.#closed || this.#blocked) return;
    this.#pumping = true;
    this.#catchUp()
      .catch((error: unknown) => {
        if (this.#closed) return;
        this.#closed = true;
        this.#sink.destroy();
        this.#source.failed(error);
      })
      .finally(() => {
        this.#pumping = false;
        if (this.#missed) {
          this.#missed = false;
          this.#pump();
        }
      });
  }

  async #catchUp(): Promise<void> {
    do {
      this.#missed = false;
      const inMemory = this.#source.after(this.#cursor);
      const frames = inMemory ?? (await this.#source.page(this.#cursor));
      for (const frame of frames) {
        if (this.#closed) return;
        // A page is written to its end also when the client is behind: it is small, and to read it again for what
        // was left of it costs more than to keep it.
        if (inMemory && this.#blocked) return;
        if (frame.seq > this.#cursor) this.#write(frame);
      }
      if (frames.length > 0) this.#missed = true;
    } while (this.#missed && !this.#closed && !this.#blocked);
  }
}
