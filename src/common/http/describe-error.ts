import { HttpException } from '@nestjs/common';
import { DomainError, type ErrorCode } from '../errors/domain-error.js';
import { errorEnvelope, type ErrorEnvelope } from './envelope.js';
import { ERROR_STATUS } from './error-status.js';

export interface ErrorAnswer {
  readonly status: number;
  readonly body: ErrorEnvelope;
  readonly headers: Readonly<Record<string, string>>;
  /** True: the cause is ours and belongs into the log. */
  readonly internal: boolean;
}

/** What Express and Nest throw by themselves, by HTTP status; their messages may quote the request. */
const HTTP_CODES: Readonly<Record<number, readonly [ErrorCode, string]>> = {
  400: ['VALIDATION_FAILED', 'the request is malformed'],
  401: ['UNAUTHORIZED', 'authentication is required'],
  403: ['FORBIDDEN', 'this is not allowed'],
  404: ['NOT_FOUND', 'there is no such route'],
  405: ['METHOD_NOT_ALLOWED', 'the route does not take this method'],
  408: ['VALIDATION_FAILED', 'the request took too long'],
  409: ['CONFLICT', 'the request conflicts with the present state'],
  413: ['PAYLOAD_TOO_LARGE', 'the body exceeds the limit http.body-limit'],
  415: ['UNSUPPORTED_MEDIA_TYPE', 'the media type or encoding of the body is not supported'],
  422: ['UNPROCESSABLE', 'the request cannot be carried out'],
  429: ['RATE_LIMITED', 'too many requests'],
  503: ['SERVICE_UNAVAILABLE', 'the service is not available at the moment'],
};

/** The answer to any thrown value. Whatever is not meant for callers becomes INTERNAL_ERROR with nothing internal. */
export function describeError(error: unknown, correlationId: string): ErrorAnswer {
  if (error instanceof DomainError && error.code !== 'INTERNAL_ERROR') {
    const body = errorEnvelope(error.code, error.message, error.details);
    return { status: ERROR_STATUS[error.code], body, headers: retryAfter(error), internal: false };
  }
  // Express's router for a path such as /%E0%A4%A.
  const status = error instanceof URIError ? 400 : httpStatus(error);
  const known = status === undefined ? undefined : HTTP_CODES[status];
  if (known && status !== undefined) {
    const [code, message] = known;
    return { status, body: errorEnvelope(code, message), headers: {}, internal: status >= 500 };
  }
  if (status !== undefined && status >= 400 && status < 500) {
    return {
      status,
      body: errorEnvelope('VALIDATION_FAILED', 'the request is malformed'),
      headers: {},
      internal: false,
    };
  }
  if (isDatabaseAway(error)) {
    const message = 'the database cannot be reached at the moment';
    const body = errorEnvelope('SERVICE_UNAVAILABLE', message);
    return { status: 503, body, headers: { 'Retry-After': '1' }, internal: true };
  }
  const message = `internal error; correlation id ${correlationId}`;
  return { status: 500, body: errorEnvelope('INTERNAL_ERROR', message), headers: {}, internal: true };
}

/** What the driver says of a connection that is gone, or that none came about. */
const GONE =
  /^Connection terminated|^timeout (expired$|exceeded when trying to connect)|^Client (has encountered|was closed)/;
const CONNECTION_CALLS = new Set<unknown>(['connect', 'read', 'write']);

/** Connections that broke or were refused, as the driver reports them; 57P and 08 are the server's own words. */
function isDatabaseAway(error: unknown): boolean {
  const cause: unknown = error instanceof Error && 'driverError' in error ? error.driverError : error;
  if (!(cause instanceof Error)) return false;
  const code = 'code' in cause && typeof cause.code === 'string' ? cause.code : '';
  if (/^(08|57P)/.test(code)) return true;
  const isCut =
    /^E(CONN|PIPE)|^ENOENT/.test(code) && 'syscall' in cause && CONNECTION_CALLS.has(cause.syscall);
  return isCut || GONE.test(cause.message);
}

/** A domain error that says when to come back carries `retryAfterSeconds`. */
function retryAfter(error: DomainError): Record<string, string> {
  const seconds = 'retryAfterSeconds' in error ? Number(error.retryAfterSeconds) : NaN;
  return Number.isFinite(seconds) ? { 'Retry-After': String(Math.max(1, Math.ceil(seconds))) } : {};
}

/** Of Nest's exceptions, and of those that body-parser and Express mark as meant for the caller. */
function httpStatus(error: unknown): number | undefined {
  if (error instanceof HttpException) return error.getStatus();
  if (!(error instanceof Error) || !('status' in error) || typeof error.status !== 'number') return undefined;
  return error.status < 500 ? error.status : undefined;
}
