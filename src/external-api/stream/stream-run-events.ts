import type { ServerResponse } from 'node:http';
import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { DomainError, ValidationError } from '../../common/errors/domain-error.js';
import { LiveTail } from '../../events/live-tail.js';
import { openEventStream } from './sse-response.js';

/** Thrown when the server is about to stop and takes no new streams. */
class StoppingError extends DomainError {
  readonly code = 'SERVICE_UNAVAILABLE';
}

/** Answers a request with the events of a run (decision 12). */
@Injectable()
export class StreamRunEvents implements OnModuleDestroy {
  #stopping = false;

  constructor(private readonly tail: LiveTail) {}

  /** Streams open now. */
  get readers(): number {
    return this.tail.readers;
  }

  /**
   * Writes the events after `lastEventId` (all of them for null) until the run's last one. Answers 204 when a
   * finished run has nothing more; throws a ValidationError when the id lies beyond the newest event of a run
   * that goes on. Once this returns, the response belongs to the stream.
   */
  async execute(
    runId: string,
    lastEventId: number | null,
    response: ServerResponse,
    headers: Record<string, string> = {},
  ): Promise<void> {
    this.#refuseWhenStopping();
    const { seq, finished } = await this.tail.position(runId);
    // The client may have left, or the server begun to stop, while the store was asked.
    if (response.destroyed) return;
    this.#refuseWhenStopping();
    if (lastEventId !== null && lastEventId >= seq) {
      if (finished) {
        response.writeHead(204, headers).end();
        return;
      }
      if (lastEventId > seq) {
        throw ValidationError.ofFields([
          { field: 'Last-Event-ID', message: `${lastEventId} is beyond the newest event, ${seq}` },
        ]);
      }
    }
    const sink = openEventStream(response, headers);
    // HEAD asks for the headers alone.
    if (response.req.method === 'HEAD') {
      sink.end();
      return;
    }
    const leave = this.tail.read(runId, lastEventId ?? 0, seq, sink);
    response.once('close', leave);
  }

  #refuseWhenStopping(): void {
    if (this.#stopping) throw new StoppingError('the server is stopping');
  }

  async onModuleDestroy(): Promise<void> {
    this.#stopping = true;
    await this.tail.close();
  }
}
