import { TransportFault } from './transport-fault.js';

/**
 * The time a call may take: in total, and without a sign of life. Both, and the caller's own signal, end in one
 * `signal` whose reason is a TransportFault.
 */
export class Deadlines {
  readonly #controller = new AbortController();
  readonly #endsAt: number;
  readonly #idleMs: number;
  readonly #caller: AbortSignal;
  readonly #onCallerAbort = (): void => {
    this.close();
    this.#controller.abort(new TransportFault('aborted', 'the call was cancelled'));
  };
  #progressAt = performance.now();
  #total: NodeJS.Timeout | undefined;
  #idle: NodeJS.Timeout | undefined;

  constructor(options: { totalMs: number; idleMs: number; signal: AbortSignal }) {
    this.#endsAt = performance.now() + options.totalMs;
    this.#idleMs = options.idleMs;
    this.#caller = options.signal;
    if (options.signal.aborted) {
      this.#onCallerAbort();
      return;
    }
    options.signal.addEventListener('abort', this.#onCallerAbort, { once: true });
    this.#total = setTimeout(() => {
      this.#expire(`no answer within ${seconds(options.totalMs)}`);
    }, atMost(options.totalMs));
    this.#watchIdle(options.idleMs);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get fault(): TransportFault | null {
    return this.signal.aborted ? (this.signal.reason as TransportFault) : null;
  }

  remainingMs(): number {
    return Math.max(0, this.#endsAt - performance.now());
  }

  /** A sign of life: the idle deadline starts anew. */
  progress(): void {
    this.#progressAt = performance.now();
  }

  /** Ends both timers; does not abort. Call it in `finally`. */
  close(): void {
    clearTimeout(this.#total);
    clearTimeout(this.#idle);
    this.#caller.removeEventListener('abort', this.#onCallerAbort);
  }

  /** One timer that is set anew when it fires, not on every frame. */
  #watchIdle(afterMs: number): void {
    this.#idle = setTimeout(() => {
      const left = this.#progressAt + this.#idleMs - performance.now();
      if (left <= 0) this.#expire(`no sign of life for ${seconds(this.#idleMs)}`);
      else this.#watchIdle(left);
    }, atMost(afterMs));
  }

  #expire(message: string): void {
    this.close();
    this.#controller.abort(new TransportFault('deadline', message));
  }
}

/** Node fires a longer timer at once. */
function atMost(ms: number): number {
  return Math.min(ms, 2 ** 31 - 1);
}

function seconds(ms: number): string {
  return `${String(Math.round(ms) / 1000)} s`;
}
