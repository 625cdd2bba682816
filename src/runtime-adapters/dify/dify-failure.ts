import type { RuntimeFailure } from '../protocol/agent-runtime-response.js';
import { failureOf, typeOfStatus } from '../protocol/failure-classification.js';
import { isObject } from './dify-frames.js';

/** Means money or a plan, not load: trying again does not help. */
const QUOTA_CODES: readonly string[] = ['provider_quota_exceeded', 'rate_limit_error'];
/** The one refusal of which Dify says that the run was not begun and may be posted again. */
const CONCURRENCY_CODE = 'too_many_requests';

export interface DifyRefusal {
  readonly status: number | null;
  readonly code: string | null;
  readonly message: string | null;
}

/** How a refusal counts, as the HTTP answer to the post or as an `error` frame before anything had begun. */
export function refusalFailure({ status, code, message }: DifyRefusal): RuntimeFailure {
  const text = `Dify refused the call${status === null ? '' : ` (${String(status)})`}${message ? `: ${message}` : ''}`;
  const more = { code, httpStatus: status, retryable: false };
  if (code !== null && QUOTA_CODES.includes(code)) return failureOf('quota_exceeded', text, more);
  if (code === CONCURRENCY_CODE) return failureOf('rate_limited', text, { ...more, retryable: true });
  return failureOf(status === null ? 'provider_bad_response' : typeOfStatus(status), text, more);
}

/** How an `error` frame counts once the run had begun: Dify ran it and says that it failed. */
export function runFailure({ status, code, message }: DifyRefusal): RuntimeFailure {
  const type = code !== null && QUOTA_CODES.includes(code) ? 'quota_exceeded' : 'provider_run_failed';
  return failureOf(type, `the run failed in Dify${message ? `: ${message}` : ''}`, {
    code,
    httpStatus: status,
  });
}

export function refusalOfBody(status: number, body: unknown): DifyRefusal {
  const { code, message } = isObject(body) ? body : {};
  return {
    status,
    code: typeof code === 'string' ? code : null,
    message: typeof message === 'string' ? message : null,
  };
}

/** A connection that never was, and a full house: nothing else is posted a second time (agent-runtime-protocol.md §5.2). */
export function mayPostAgain(failure: RuntimeFailure): boolean {
  return (
    failure.type === 'connect_failed' ||
    (failure.type === 'rate_limited' && failure.code === CONCURRENCY_CODE)
  );
}
