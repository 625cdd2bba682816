import type { ErrorCode } from '../../common/errors/domain-error.js';
import type { RuntimeFailureType } from '../../runtime-adapters/protocol/agent-runtime-response.js';

/** The engine's own codes of failed nodes; docs/node-types.md explains each. */
export const NODE_FAILURE_CODES = [
  'NODE_ERROR',
  'NODE_TIMEOUT',
  'NODE_TYPE',
  'CANCELLED',
  'WORKER_LOST',
  'AGENT_NOT_FOUND',
  'RUNTIME',
  'OUTPUT_SCHEMA',
  'CONDITION',
  'CODE_ERROR',
  'CODE_TIMEOUT',
  'CODE_MEMORY',
  'CODE_OUTPUT',
  'CODE_INPUT',
  'HTTP_STATUS',
  'HTTP_CONNECTION',
  'HTTP_REFUSED',
  'HTTP_REDIRECT',
  'HTTP_REQUEST',
  'HTTP_TOO_LARGE',
  'HTTP_RESPONSE',
  'KNOWLEDGE_QUERY',
  'ITERATION_ITEMS',
  'ITERATION_ITEM_FAILED',
  'WORKFLOW_NOT_FOUND',
  'VALIDATION_FAILED',
  'WORKFLOW_CYCLE',
  'WORKFLOW_DEPTH',
  'CHILD_FAILED',
  'PLANNER_FAILED',
  'bridge_lost',
] as const;

/** What `errorDetail.code` of a node may be: a runtime's failures are called by their type. */
export type NodeFailureCode = (typeof NODE_FAILURE_CODES)[number] | RuntimeFailureType | ErrorCode;

/** Thrown when a node failed. `retryable` allows a further attempt where the node's `retry` grants one. */
export class NodeFailure extends Error {
  readonly code: NodeFailureCode;
  readonly retryable: boolean;

  constructor(
    code: NodeFailureCode,
    message: string,
    options: { retryable?: boolean; cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause });
    this.name = 'NodeFailure';
    this.code = code;
    this.retryable = options.retryable ?? false;
  }
}
