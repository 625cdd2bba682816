import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { maskSecrets } from './mask-secrets.js';
import { MAX_EVENT_CHARS, type BridgeEvent } from './protocol.js';

/** Reports what happens in a run of the bridge; resolves when the reader can take more. */
export type Emit = (event: BridgeEvent) => Promise<void>;

/**
 * The answer of `POST /run`: SSE frames with a comment as heartbeat. Every frame leaves through `send`, which is
 * where secrets are masked, whatever a model, a tool or an error message says.
 */
export class EventStream {
  readonly #response: ServerResponse;
  readonly #secrets: readonly string[];
  readonly #heartbeat: NodeJS.Timeout;
  #ended = false;

  constructor(response: ServerResponse, options: { secrets: readonly string[]; heartbeatMillis: number }) {
    this.#response = response;
    this.#secrets = options.secrets;
    response.writeHead(200, {
      'Content-Type': 'text/event-stream; charset=utf-8',
      'Cache-Control': 'no-cache, no-transform',
      // Calls are rare and long; a kept connection would only risk being reset when the next one begins.
      Connection: 'close',
    });
    response.write(': open\n\n');
    this.#heartbeat = setInterval(() => this.#beat(), options.heartbeatMillis);
  }

  /** Writes one event. Nothing is written after `result` or `error`, or once the reader has gone. */
  async send(event: BridgeEvent): Promise<void> {
    if (this.#ended || this.#response.destroyed) return;
    const last = event.event === 'result' || event.event === 'error';
    if (last) this.#ended = true;
    const flowing = this.#response.write(this.#frame(event));
    if (last) this.close();
    else if (!flowing) await this.#drained();
  }

  close(): void {
    clearInterval(this.#heartbeat);
    this.#ended = true;
    if (!this.#response.writableEnded) this.#response.end();
  }

  #frame(event: BridgeEvent): string {
    const data = maskSecrets(JSON.stringify(event.data), this.#secrets);
    if (data.length <= MAX_EVENT_CHARS) return `event: ${event.event}\ndata: ${data}\n\n`;
    return this.#frame(fitting(event, data.length));
  }

  #beat(): void {
    // A reader that does not read gets no heartbeats on top of what already waits for it.
    if (!this.#response.destroyed && !this.#response.writableNeedDrain)
      this.#response.write(': heartbeat\n\n');
  }

  async #drained(): Promise<void> {
    const gone = new AbortController();
    const stop = (): void => gone.abort();
    this.#response.once('close', stop);
    try {
      await once(this.#response, 'drain', { signal: gone.signal });
    } catch {
      // The reader has gone; the run is aborted by whoever watches the connection.
    } finally {
      this.#response.off('close', stop);
    }
  }
}

/** What stands in for an event that no reader would take. */
function fitting(event: BridgeEvent, chars: number): BridgeEvent {
  const note = `left out: ${chars} characters are more than an event may have`;
  switch (event.event) {
    case 'tool_call':
      return { event: 'tool_call', data: { ...event.data, args: { truncated: note } } };
    case 'tool_result':
      return { event: 'tool_result', data: { ...event.data, result: { truncated: note } } };
    case 'todo_update':
      return { event: 'todo_update', data: { todos: [note] } };
    case 'thinking':
    case 'text':
      return { event: event.event, data: { text: note } };
    case 'usage':
      return event;
    case 'result':
    case 'error': {
      const message = `the answer is too large: ${chars} characters`;
      return { event: 'error', data: { code: 'provider_bad_response', message, retryable: false } };
    }
  }
}
