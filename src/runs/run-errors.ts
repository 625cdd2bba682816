import { DomainError } from '../common/errors/domain-error.js';

/** Thrown when no such run exists, or not under the workflow that was named. */
export class RunNotFoundError extends DomainError {
  readonly code = 'RUN_NOT_FOUND';
  constructor(readonly runId: string) {
    super('run not found');
  }
}

/** Thrown when a run is started that has been started, or has ended, before. */
export class RunAlreadyStartedError extends DomainError {
  readonly code = 'RUN_ALREADY_STARTED';
  constructor(readonly runId: string) {
    super('the run has already been started');
  }
}

/** Thrown when a run, or the node that is meant, is not in a state that allows the call. */
export class RunNotActiveError extends DomainError {
  readonly code = 'RUN_NOT_ACTIVE';
  constructor(
    readonly runId: string,
    message: string,
  ) {
    super(message);
  }
}
