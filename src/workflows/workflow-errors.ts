import { DomainError } from '../common/errors/domain-error.js';
import type { GraphProblem } from './graph/graph-data.js';

/** Thrown when there is no such workflow, or when the caller may not see it (decision 8: the same bytes). */
export class WorkflowNotFoundError extends DomainError {
  readonly code = 'WORKFLOW_NOT_FOUND';
  constructor(readonly nameOrId: string) {
    super('workflow not found');
  }
}

/** Thrown when a living workflow already has the name. */
export class WorkflowExistsError extends DomainError {
  readonly code = 'WORKFLOW_EXISTS';
  constructor(readonly workflowName: string) {
    super(`a workflow named ${workflowName} already exists`);
  }
}

/** Thrown when a definition is not sound; `details` are all its problems. */
export class GraphInvalidError extends DomainError {
  readonly code = 'GRAPH_INVALID';
  constructor(readonly problems: readonly GraphProblem[]) {
    const [first] = problems;
    const more = problems.length > 1 ? ` (and ${problems.length - 1} more)` : '';
    super(`the graph is invalid: ${first?.message ?? 'unknown problem'}${more}`, { details: problems });
  }
}

/** Thrown when somebody else has changed the workflow since the version that the caller saw. */
export class WorkflowChangedError extends DomainError {
  readonly code = 'CONFLICT';
  constructor(
    readonly workflowName: string,
    readonly expectedVersion: number,
    readonly currentVersion: number,
  ) {
    super(`workflow ${workflowName} is at version ${currentVersion}, not ${expectedVersion}`);
  }
}
