/** Every stable error code of the HTTP APIs (external-workflow-api.md, decisions 7 and 8). */
export type ErrorCode =
  | 'UNAUTHORIZED'
  | 'FORBIDDEN'
  | 'VALIDATION_FAILED'
  | 'NOT_FOUND'
  | 'METHOD_NOT_ALLOWED'
  | 'WORKFLOW_NOT_FOUND'
  | 'WORKFLOW_EXISTS'
  | 'AGENT_NOT_FOUND'
  | 'AGENT_EXISTS'
  | 'RUN_NOT_FOUND'
  | 'NODE_NOT_FOUND'
  | 'GRAPH_INVALID'
  | 'RUN_ALREADY_STARTED'
  | 'RUN_NOT_ACTIVE'
  | 'IDEMPOTENCY_CONFLICT'
  | 'CONFLICT'
  | 'UNPROCESSABLE'
  | 'WORKSPACE_EXPIRED'
  | 'PAYLOAD_TOO_LARGE'
  | 'UNSUPPORTED_MEDIA_TYPE'
  | 'RATE_LIMITED'
  | 'SERVICE_UNAVAILABLE'
  | 'INTERNAL_ERROR';

/** One wrong field of a request; `field` is a dotted path into the body. */
export interface FieldError {
  readonly field: string;
  readonly message: string;
}

/**
 * Base of every error a caller may see. The message is safe to show; ids are fields of the subclass.
 * HTTP statuses are mapped in one place, `common/http/error-status.ts`.
 */
export abstract class DomainError extends Error {
  abstract readonly code: ErrorCode;
  /** Shown as `details` beside `data: null`; undefined leaves the key out. */
  readonly details?: unknown;

  constructor(message: string, options?: ErrorOptions & { details?: unknown }) {
    super(message, options);
    this.name = new.target.name;
    this.details = options?.details;
  }
}

/** More than that helps nobody and would let a small request have a huge answer. */
const MOST_PROBLEMS = 100;

/** A field may be named by a key that the caller made up, of any length. */
const MOST_FIELD_CHARS = 500;

/** Thrown when a request is malformed or a value breaks a rule; nothing has been changed. */
export class ValidationError extends DomainError {
  readonly code = 'VALIDATION_FAILED';

  /** The first hundred problems, whatever there are. */
  static ofFields(problems: readonly FieldError[]): ValidationError {
    const fields = problems.slice(0, MOST_PROBLEMS).map(shortened);
    const message = fields.map(({ field, message: why }) => (field ? `${field}: ${why}` : why)).join('; ');
    return new ValidationError(message, { details: fields });
  }
}

function shortened({ field, message }: FieldError): FieldError {
  return { field: field.length > MOST_FIELD_CHARS ? `${field.slice(0, MOST_FIELD_CHARS)}…` : field, message };
}
