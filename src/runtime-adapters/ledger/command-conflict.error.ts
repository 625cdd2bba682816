import { DomainError } from '../../common/errors/domain-error.js';

/** Thrown when a command id was used before for something else; nothing is sent. */
export class CommandConflictError extends DomainError {
  readonly code = 'IDEMPOTENCY_CONFLICT';

  constructor(readonly commandId: string) {
    super(`the command ${commandId} was used before with another request`);
  }
}
