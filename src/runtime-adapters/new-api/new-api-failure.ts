import type { RuntimeFailure } from '../protocol/agent-runtime-response.js';
import { failureOf, typeOfStatus } from '../protocol/failure-classification.js';

/** New-API answers these with 403: money, not permission. */
const QUOTA_CODES: readonly string[] = [
  'insufficient_user_quota',
  'pre_consume_token_quota_failed',
  'insufficient_quota',
  'quota_exceeded',
];
const AUTH_CODES: readonly string[] = ['invalid_api_key', 'access_denied'];

export interface NewApiError {
  readonly code: string | null;
  readonly message: string | null;
}

/**
 * The error a body or frame holds: `{error: {message, type, param, code}}`, where `code` may be of any type, or empty,
 * or `error` a mere text; or `{success: false, message}`. Null where it holds none.
 */
export function errorIn(value: unknown): NewApiError | null {
  if (!isObject(value)) return null;
  if (value.success === false) return { code: null, message: textOf(value.message) };
  if (value.error === undefined || value.error === null || value.error === false) return null;
  if (!isObject(value.error)) return { code: null, message: textOf(value.error) };
  const { code, type, message } = value.error;
  return { code: textOf(code) ?? textOf(type), message: textOf(message) };
}

/** How a refusal by status counts. */
export function refusalFailure(status: number, body: unknown): RuntimeFailure {
  const { code, message } = errorIn(body) ?? { code: null, message: null };
  const isQuota = code !== null && QUOTA_CODES.includes(code);
  const type = isQuota ? 'quota_exceeded' : typeOfStatus(status);
  const text = `New-API refused the call (${String(status)})${message ? `: ${message}` : ''}`;
  return failureOf(type, text, { code, httpStatus: status });
}

/** How an error under status 200 counts: the call had been accepted. */
export function runFailure({ code, message }: NewApiError): RuntimeFailure {
  const type =
    code !== null && QUOTA_CODES.includes(code)
      ? 'quota_exceeded'
      : code !== null && AUTH_CODES.includes(code)
        ? 'auth_failed'
        : 'provider_run_failed';
  return failureOf(type, `the call failed in New-API${message ? `: ${message}` : ''}`, {
    code,
    httpStatus: 200,
  });
}

/** Where New-API surely gave no answer: no connection, or a refusal for load or a fault of its own. */
export function mayPostAgain(failure: RuntimeFailure): boolean {
  return (
    failure.type === 'connect_failed' || failure.type === 'rate_limited' || failure.type === 'provider_5xx'
  );
}

function textOf(value: unknown): string | null {
  if (typeof value === 'string') return value === '' ? null : value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : null;
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
