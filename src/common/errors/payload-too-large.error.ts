import { DomainError } from './domain-error.js';

/** Thrown when a request exceeds a limit; the message names it. */
export class PayloadTooLargeError extends DomainError {
  readonly code = 'PAYLOAD_TOO_LARGE';

  /** `limit` is its key with its size: `http.body-limit (1048576 bytes)`. */
  constructor(limit: string, options?: ErrorOptions) {
    super(`the request exceeds the limit ${limit}`, options);
  }
}
