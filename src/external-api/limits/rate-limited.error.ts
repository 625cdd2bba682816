import { DomainError } from '../../common/errors/domain-error.js';

/** Thrown when a key has used up what it is allowed; the answer's `Retry-After` says when to come again. */
export class RateLimitedError extends DomainError {
  readonly code = 'RATE_LIMITED';
  constructor(
    message: string,
    /** Whole seconds, at least 1. */
    readonly retryAfterSeconds: number,
  ) {
    super(message);
  }
}
