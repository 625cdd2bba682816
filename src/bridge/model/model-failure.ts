import { APICallError } from 'ai';
import { RunFailure } from '../run-failure.js';

const MAX_MESSAGE = 500;
const QUOTA = /quota|insufficient|billing|balance/i;

/**
 * Says in the protocol's words (agent-runtime-protocol.md §4.2) why a model gave no answer. Of the provider's own
 * answer only its error message is kept, cut; secrets in it are masked where the event leaves.
 */
export function modelFailure(error: unknown): RunFailure {
  if (error instanceof RunFailure) return error;
  // A failure inside the guarded fetch may come wrapped by the SDK.
  for (let cause = causeOf(error); cause; cause = causeOf(cause)) {
    if (cause instanceof RunFailure) return cause;
  }
  if (APICallError.isInstance(error)) return callFailure(error);
  if (isProviderError(error)) return frameFailure(error);
  const name = error instanceof Error ? error.name : '';
  if (name === 'AI_InvalidResponseDataError' && /finish reason/.test((error as Error).message)) {
    return new RunFailure('connect_failed', 'the answer ended before it was complete', { retryable: true });
  }
  if (name.startsWith('AI_')) {
    return new RunFailure('provider_bad_response', shown((error as Error).message), { cause: error });
  }
  if (isConnectionLost(error)) return connectionLost(error);
  throw error;
}

function callFailure(error: APICallError): RunFailure {
  const { statusCode } = error;
  const options = { cause: error };
  if (statusCode === undefined) {
    return new RunFailure('connect_failed', 'the model cannot be reached', { ...options, retryable: true });
  }
  if (statusCode < 300 && isConnectionLost(error)) return connectionLost(error);
  const { message, code } = providerErrorIn(error.data) ?? { message: '', code: '' };
  const said = `the model's endpoint answered ${statusCode}${message ? `: ${shown(message)}` : ''}`;
  const isQuota = QUOTA.test(code) || (statusCode === 403 && QUOTA.test(message));
  if (statusCode === 402 || (isQuota && (statusCode === 403 || statusCode === 429))) {
    return new RunFailure('quota_exceeded', said, options);
  }
  if (statusCode === 401 || statusCode === 403) return new RunFailure('auth_failed', said, options);
  if (statusCode === 408) return new RunFailure('network_timeout', said, { ...options, retryable: true });
  if (statusCode === 429) return new RunFailure('rate_limited', said, { ...options, retryable: true });
  if (statusCode >= 500) return new RunFailure('provider_5xx', said, { ...options, retryable: true });
  if (statusCode >= 400) return new RunFailure('provider_bad_request', said, options);
  return new RunFailure('provider_bad_response', said, options);
}

/** An error that came as a frame of the stream, under status 200. */
export function frameFailure(error: ProviderError): RunFailure {
  const { message, code } = error;
  const said = `the model's endpoint reported: ${shown(message)}`;
  if (/rate.?limit/i.test(code)) return new RunFailure('rate_limited', said, { retryable: true });
  if (QUOTA.test(code)) return new RunFailure('quota_exceeded', said);
  if (/invalid_request|bad_request|context_length/i.test(code)) {
    return new RunFailure('provider_bad_request', said);
  }
  if (/auth|permission|access_denied/i.test(code)) return new RunFailure('auth_failed', said);
  return new RunFailure('provider_5xx', said, { retryable: true });
}

export interface ProviderError {
  message: string;
  /** Its type and its code in one; either may be missing. */
  code: string;
}

/** Reads `{error: {message, type, code}}`, where code may be of any type and everything may be missing. */
export function providerErrorIn(body: unknown): ProviderError | null {
  if (typeof body !== 'object' || body === null || !('error' in body)) return null;
  const { error } = body;
  if (typeof error === 'string') return { message: error, code: '' };
  if (typeof error !== 'object' || error === null) return null;
  const { message, type, code } = error as Record<string, unknown>;
  const words = [type, code].filter((word) => typeof word === 'string' || typeof word === 'number');
  return { message: typeof message === 'string' ? message : 'unknown error', code: words.join(' ') };
}

function isProviderError(error: unknown): error is ProviderError {
  return typeof error === 'object' && error !== null && !(error instanceof Error) && 'message' in error;
}

function causeOf(error: unknown): unknown {
  return error instanceof Error ? error.cause : undefined;
}

function isConnectionLost(error: unknown): boolean {
  // undici reports a connection that breaks in mid-body as `TypeError: terminated`.
  return error instanceof TypeError || causeOf(error) instanceof TypeError;
}

function connectionLost(cause: unknown): RunFailure {
  return new RunFailure('connect_failed', 'the connection to the model was lost', { retryable: true, cause });
}

function shown(message: string): string {
  return message.replace(/\s+/g, ' ').slice(0, MAX_MESSAGE);
}
