import { setTimeout as delay } from 'node:timers/promises';
import { createParser } from 'eventsource-parser';
import { isConnectionLost, type Servers } from './servers.js';

/** The parts of a stream's payloads that tests look at. */
export interface EventPayload {
  readonly nodeId?: string;
  readonly nodeType?: string;
  readonly visitUuid?: string;
  readonly iterSeq?: number;
  readonly status?: string;
  readonly attempt?: number;
  readonly error?: string | null;
  readonly statusReason?: string | null;
  readonly waitingFor?: { readonly childRunId?: string };
  readonly outputs?: Readonly<Record<string, unknown>>;
}

export interface ReadEvent {
  readonly id: number;
  readonly event: string;
  /** As it came. */
  readonly data: string;
  readonly payload: EventPayload;
  /** The servers' life in which it was read. */
  readonly life: number;
}

/** Reads a run's stream over every death of the server, going on with Last-Event-ID as an EventSource does. */
export class RunReader {
  readonly events: ReadEvent[] = [];
  /** Numbers that did not follow on each other. */
  readonly problems: string[] = [];
  #listeners: ((event: ReadEvent) => void)[] = [];

  constructor(
    private readonly lives: Servers,
    /** `/api/v1/workflows/…/runs/…` */
    readonly path: string,
  ) {}

  onEvent(listener: (event: ReadEvent) => void): void {
    this.#listeners.push(listener);
  }

  /** Resolves when the server says that there is nothing more. */
  async readToEnd(): Promise<void> {
    for (;;) {
      const server = await this.lives.up();
      try {
        const last = this.events.at(-1)?.id;
        const response = await fetch(`${server.url}${this.path}/stream`, {
          headers: {
            'X-API-Key': 'demo-key',
            ...(last === undefined ? {} : { 'Last-Event-ID': String(last) }),
          },
          signal: this.lives.signalOf(server),
        });
        if (response.status === 204) return;
        if (response.status === 200) await this.#consume(response);
        else if (response.status < 500) {
          this.problems.push(`the stream answered ${response.status}: ${await response.text()}`);
          return;
        }
      } catch (error) {
        // The server died; nothing else is expected to go wrong here.
        if (!isConnectionLost(error)) throw error;
      }
      await delay(10);
    }
  }

  async #consume(response: Response): Promise<void> {
    const parser = createParser({
      onEvent: ({ id, event = '', data }) => {
        const read = {
          id: Number(id),
          event,
          data,
          payload: JSON.parse(data) as EventPayload,
          life: this.lives.life,
        };
        const expected = (this.events.at(-1)?.id ?? 0) + 1;
        if (read.id !== expected) this.problems.push(`event ${read.id} came where ${expected} was due`);
        this.events.push(read);
        for (const listener of this.#listeners) listener(read);
      },
    });
    const decoder = new TextDecoder();
    for await (const bytes of response.body ?? []) {
      parser.feed(decoder.decode(bytes as Uint8Array, { stream: true }));
    }
  }
}
