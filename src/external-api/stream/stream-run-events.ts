import type { ServerResponse } from 'node:http';
import { Inject, Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import { DomainError, ValidationError } from '../../common/errors/domain-error.js';
import { APP_CONFIG, type AppConfig } from '../../config/app-config.js';
import { LiveTail } from '../../events/live-tail.js';
import { RunEventBus } from '../../events/run-event-bus.js';
import { RunEventStore } from '../../events/run-event-store.js';
import { openEventStream } from './sse-response.js';

/** Thrown when the server is about to stop and takes no new streams. */
class StoppingError extends DomainError {
  readonly code = 'SERVICE_UNAVAILABLE';
}

/** Answers a request with the events of a run (decision 12). */
@Injectable()
export class StreamRunEvents implements OnModuleDestroy {
  readonly #tail: LiveTail;
  #stopping = false;

  constructor(@Inject(APP_CONFIG) config: AppConfig, bus: RunEventBus, store: RunEventStore) {
    const log = new Logger(StreamRunEvents.name);
    this.#tail = new LiveTail(bus, store, (message, error) => log.error(`${message}: ${String(error)}`), {
      heartbeatMillis: config.externalApi.sse.heartbeatSeconds * 1000,
    });
  }

  /** Streams open now. */
  get readers(): number {
    return this.#tail.readers;
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
    const { seq, finished } = await this.#tail.position(runId);
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
    const leave = this.#tail.read(runId, lastEventId ?? 0, seq, sink);
    response.once('close', leave);
  }

  #refuseWhenStopping(): void {
    if (this.#stopping) throw new StoppingError('the server is stopping');
  }

  async onModuleDestroy(): Promise<void> {
    this.#stopping = true;
    await this.#tail.close();
  }
}
