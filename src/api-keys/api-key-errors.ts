import { DomainError } from '../common/errors/domain-error.js';

/** Thrown when a living API key already has the name, or when the key itself is or was in use. */
export class ApiKeyTakenError extends DomainError {
  readonly code = 'CONFLICT';
  constructor(readonly keyName: string) {
    super(`an API key with this name or this value already exists: ${keyName}`);
  }
}

/** Thrown when there is no such API key, or no longer. */
export class ApiKeyNotFoundError extends DomainError {
  readonly code = 'NOT_FOUND';
  constructor(readonly keyId: string) {
    super('API key not found');
  }
}
