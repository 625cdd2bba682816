import type { BridgeFailure } from './protocol.js';

/** Thrown when a run of the bridge cannot give an answer; becomes the `error` event as it is. */
export class RunFailure extends Error {
  readonly code: string;
  readonly retryable: boolean;

  constructor(code: string, message: string, options: { retryable?: boolean; cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.name = 'RunFailure';
    this.code = code;
    this.retryable = options.retryable ?? false;
  }

  toEvent(): BridgeFailure {
    return { code: this.code, message: this.message, retryable: this.retryable };
  }
}
