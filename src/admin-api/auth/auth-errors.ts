import { DomainError } from '../../common/errors/domain-error.js';

/** Thrown for a missing or unknown admin key; an API key is none. */
export class AdminUnauthorizedError extends DomainError {
  readonly code = 'UNAUTHORIZED';
  constructor() {
    super('a valid admin key is required in the header X-Admin-Key');
  }
}

/** Thrown when an admin key has none of the roles that a route wants. */
export class ForbiddenError extends DomainError {
  readonly code = 'FORBIDDEN';
  constructor(readonly wanted: readonly string[]) {
    super(`this needs one of the roles ${wanted.join(', ')}`);
  }
}
