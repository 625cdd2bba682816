import { DomainError } from '../../common/errors/domain-error.js';

/** Thrown when a write is refused because another process, or a cancel, has taken the run over (decision 33). */
export class LeaseLostError extends Error {
  constructor(readonly runId: string) {
    super(`run ${runId} is no longer executed here`);
    this.name = 'LeaseLostError';
  }
}

/** Thrown when the database could not be reached; whether the entry is stored is unknown. */
export class JournalUnavailableError extends DomainError {
  readonly code = 'SERVICE_UNAVAILABLE';
  readonly retryAfterSeconds = 1;

  constructor(cause: unknown) {
    super('the database cannot be reached at the moment', { cause });
  }
}
