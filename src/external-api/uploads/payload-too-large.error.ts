import { DomainError } from '../../common/errors/domain-error.js';

/** Thrown when a request exceeds a limit; the message names it. */
export class PayloadTooLargeError extends DomainError {
  readonly code = 'PAYLOAD_TOO_LARGE';

  constructor(limit: string) {
    super(`the request exceeds the limit ${limit}`);
  }
}
