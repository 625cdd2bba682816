import { DomainError } from '../../common/errors/domain-error.js';

/** Thrown when a run's files have been removed because their time was up (decision 17). */
export class WorkspaceExpiredError extends DomainError {
  readonly code = 'WORKSPACE_EXPIRED';
  constructor(readonly runId: string) {
    super('the workspace of this run has expired; its files have been removed');
  }
}
