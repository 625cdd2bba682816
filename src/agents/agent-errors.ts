import { DomainError } from '../common/errors/domain-error.js';

/** Thrown when there is no such agent. */
export class AgentNotFoundError extends DomainError {
  readonly code = 'AGENT_NOT_FOUND';
  constructor(readonly agentKey: string) {
    super('agent not found');
  }
}

/** Thrown when the agent has no such version. */
export class AgentVersionNotFoundError extends DomainError {
  readonly code = 'NOT_FOUND';
  constructor(
    readonly agentKey: string,
    readonly version: number,
  ) {
    super(`agent ${agentKey} has no version ${version}`);
  }
}

/** Thrown when an agent, archived or not, already has the key. */
export class AgentExistsError extends DomainError {
  readonly code = 'AGENT_EXISTS';
  constructor(readonly agentKey: string) {
    super(`an agent with the key ${agentKey} already exists`);
  }
}

/** Thrown when the agent or its version is in a state that does not allow the call. */
export class AgentStateError extends DomainError {
  readonly code = 'CONFLICT';
  constructor(
    readonly agentKey: string,
    why: string,
  ) {
    super(`agent ${agentKey}: ${why}`);
  }
}
