import {
  Inject,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
} from '@nestjs/common';
import type { Subscription } from 'rxjs';
import { APP_CONFIG, type AppConfig } from '../../config/app-config.js';
import { RunEventBus } from '../../events/run-event-bus.js';
import { CallbackOutbox, type DueCallback } from './callback-outbox.js';
import { retryDelay } from './retry-delay.js';
import { CallbackRefusedError, SendCallback } from './send-callback.js';

const POLL_MILLIS = 1000;
/** Runs that ended in other processes, or in one that died, are looked for that often. */
const COLLECT_EVERY = 5;
const COLLECT_HOURS = 24;
/** After a start all of them, however long the server was down. */
const COLLECT_HOURS_AT_START = 24 * 365 * 100;
const AT_ONCE = 8;

/** Sends the callbacks of ended runs, from whichever process gets to it first, until they are accepted. */
@Injectable()
export class CallbackSender implements OnApplicationBootstrap, OnModuleDestroy {
  readonly #log = new Logger(CallbackSender.name);
  readonly #stopping = new AbortController();
  readonly #sending = new Set<Promise<void>>();
  #subscription: Subscription | null = null;
  #timer: NodeJS.Timeout | null = null;
  #polls = 0;
  #polling: Promise<void> | null = null;

  constructor(
    @Inject(APP_CONFIG) private readonly config: AppConfig,
    private readonly bus: RunEventBus,
    private readonly outbox: CallbackOutbox,
    private readonly send: SendCallback,
  ) {}

  onApplicationBootstrap(): void {
    // Without a secret no run can have a callback.
    if (this.config.callbacks.credentialRef === null) return;
    this.#subscription = this.bus.subscribe('callbacks', ({ runId, event }) => {
      if (event.kind === 'run-finished') void this.#runEnded(runId);
    });
    this.#timer = setInterval(() => this.#poll(), POLL_MILLIS);
  }

  async onModuleDestroy(): Promise<void> {
    this.#subscription?.unsubscribe();
    if (this.#timer) clearInterval(this.#timer);
    this.#stopping.abort(new Error('the server is stopping'));
    await this.#polling;
    await Promise.all(this.#sending);
  }

  async #runEnded(runId: string): Promise<void> {
    try {
      if (await this.outbox.runEnded(runId)) this.#poll();
    } catch (error) {
      // The next collection finds it.
      this.#log.warn(`the callback of run ${runId} is not due yet: ${String(error)}`);
    }
  }

  #poll(): void {
    if (this.#polling || this.#stopping.signal.aborted) return;
    this.#polling = this.#sendDue()
      .catch((error: unknown) => this.#log.error(`callbacks could not be read: ${String(error)}`))
      .finally(() => (this.#polling = null));
  }

  async #sendDue(): Promise<void> {
    if (this.#polls % COLLECT_EVERY === 0) {
      await this.outbox.collectEnded(this.#polls === 0 ? COLLECT_HOURS_AT_START : COLLECT_HOURS);
    }
    this.#polls += 1;
    const room = AT_ONCE - this.#sending.size;
    if (room === 0) return;
    for (const callback of await this.outbox.take(room)) {
      const sending = this.#attempt(callback).finally(() => this.#sending.delete(sending));
      this.#sending.add(sending);
    }
  }

  /** Never rejects: what cannot even be recorded is taken again by itself. */
  async #attempt(callback: DueCallback): Promise<void> {
    const { runId, attempts } = callback;
    try {
      try {
        await this.send.execute(callback, this.#stopping.signal);
        await this.outbox.delivered(runId);
      } catch (error) {
        await this.outbox.failed(runId, describe(error), this.#retryMillis(attempts, error));
      }
    } catch (error) {
      this.#log.warn(`the state of the callback of run ${runId} was not stored: ${String(error)}`);
    }
  }

  #retryMillis(attempts: number, error: unknown): number | null {
    if (this.#stopping.signal.aborted) return 0;
    if (attempts >= this.config.callbacks.maxAttempts) return null;
    if (!(error instanceof CallbackRefusedError)) return retryDelay(attempts, null);
    // 410: the receiver wants no more of it (Standard Webhooks).
    return error.status === 410 ? null : retryDelay(attempts, error.retryAfterMillis);
  }
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
