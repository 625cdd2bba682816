/** Thrown when a node failed. `retryable` allows a further attempt where the node's `retry` grants one. */
export class NodeFailure extends Error {
  readonly code: string;
  readonly retryable: boolean;

  constructor(code: string, message: string, options: { retryable?: boolean; cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.name = 'NodeFailure';
    this.code = code;
    this.retryable = options.retryable ?? false;
  }
}
