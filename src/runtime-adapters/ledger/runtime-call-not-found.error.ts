import { DomainError } from '../../common/errors/domain-error.js';

/** Thrown when the ledger knows no call of this command. */
export class RuntimeCallNotFoundError extends DomainError {
  readonly code = 'NOT_FOUND';

  constructor(readonly commandId: string) {
    super('runtime call not found');
  }
}
