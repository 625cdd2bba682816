import type { ErrorCode } from '../errors/domain-error.js';

/** Body of every success of `/api/v1` and `/admin/v1`. */
export interface Envelope<T> {
  readonly code: 'OK';
  readonly message: string;
  readonly data: T;
}

/** Body of every error; `details` only where there are any. */
export interface ErrorEnvelope {
  readonly code: ErrorCode;
  readonly message: string;
  readonly data: null;
  readonly details?: unknown;
}

export function ok<T>(data: T, message = ''): Envelope<T> {
  return { code: 'OK', message, data };
}

export function errorEnvelope(code: ErrorCode, message: string, details?: unknown): ErrorEnvelope {
  return details === undefined ? { code, message, data: null } : { code, message, data: null, details };
}
