import { CredentialError } from '../../credentials/index.js';
import { TransportFault } from '../http-sse/transport-fault.js';
import type { RuntimeFailure, RuntimeFailureType } from './agent-runtime-response.js';

/** Thrown inside an adapter; ends the call with its failure. Never leaves the adapter. */
export class RuntimeFault extends Error {
  constructor(readonly failure: RuntimeFailure) {
    super(failure.message);
    this.name = 'RuntimeFault';
  }
}

/** A failure; only what is not said is filled in. `retryable` means that the caller may try again. */
export function failureOf(
  type: RuntimeFailureType,
  message: string,
  more: Partial<Omit<RuntimeFailure, 'type' | 'message'>> = {},
): RuntimeFailure {
  return { type, code: null, httpStatus: null, retryable: mayBeTriedAgain(type), message, ...more };
}

/** The types that agent-runtime-protocol.md §4.2 leaves to the retry policy. */
export function mayBeTriedAgain(type: RuntimeFailureType): boolean {
  return (
    type === 'connect_failed' ||
    type === 'rate_limited' ||
    type === 'provider_5xx' ||
    type === 'network_timeout'
  );
}

/** The type of a refusal that says no more than its HTTP status. */
export function typeOfStatus(status: number): RuntimeFailureType {
  if (status === 401 || status === 403) return 'auth_failed';
  if (status === 408) return 'network_timeout';
  if (status === 429) return 'rate_limited';
  if (status >= 500) return 'provider_5xx';
  if (status >= 400) return 'provider_bad_request';
  return 'provider_bad_response';
}

export function failureOfStatus(status: number, code: string | null, message: string | null): RuntimeFailure {
  const type = typeOfStatus(status);
  const said = message ?? (status >= 300 && status < 400 ? 'redirects are not followed' : null);
  const text = `the provider answered ${String(status)}${said ? `: ${said}` : ''}`;
  return failureOf(type, text, { code, httpStatus: status });
}

/** How a broken way to the provider counts; cancellation is no failure and is handled before. */
export function failureOfTransport(fault: TransportFault): RuntimeFailure {
  switch (fault.kind) {
    case 'connect_failed':
      return failureOf('connect_failed', fault.message);
    case 'deadline':
      return failureOf('network_timeout', fault.message, { code: 'deadline' });
    case 'malformed':
      return failureOf('provider_bad_response', fault.message, { code: 'malformed' });
    case 'too_large':
      return failureOf('provider_bad_response', fault.message, { code: 'too_large' });
    case 'lost':
      return failureOf('outcome_unknown', `${fault.message}; whether the call was carried out is unknown`, {
        code: 'connection_lost',
      });
    case 'aborted':
      return failureOf('outcome_unknown', fault.message, { code: 'aborted' });
  }
}

/** A credential that may not or cannot be used: nothing was sent. */
export function failureOfCredential(error: CredentialError): RuntimeFailure {
  const type = error.reason === 'out_of_scope' ? 'permission_denied' : 'runtime_unavailable';
  return failureOf(type, error.message, { code: `credential_${error.reason}` });
}

/** The failure that an adapter's error stands for; rethrows what is a defect of ours. */
export function failureOfError(error: unknown): RuntimeFailure {
  if (error instanceof RuntimeFault) return error.failure;
  if (error instanceof TransportFault) return failureOfTransport(error);
  if (error instanceof CredentialError) return failureOfCredential(error);
  throw error;
}
