import { CredentialError } from '../../credentials/index.js';
import { TransportFault } from '../http-sse/transport-fault.js';
import { failureOf, failureOfError, failureOfStatus, RuntimeFault } from './failure-classification.js';

describe('failure classification', () => {
  it.each([
    [301, 'provider_bad_response', false],
    [400, 'provider_bad_request', false],
    [401, 'auth_failed', false],
    [403, 'auth_failed', false],
    [404, 'provider_bad_request', false],
    [408, 'network_timeout', true],
    [422, 'provider_bad_request', false],
    [429, 'rate_limited', true],
    [500, 'provider_5xx', true],
    [504, 'provider_5xx', true],
  ])('status %i is %s', (status, type, retryable) => {
    expect(failureOfStatus(status, null, null)).toMatchObject({ type, retryable, httpStatus: status });
  });

  it.each([
    ['connect_failed', 'connect_failed', true],
    ['deadline', 'network_timeout', true],
    ['lost', 'outcome_unknown', false],
    ['malformed', 'provider_bad_response', false],
    ['too_large', 'provider_bad_response', false],
  ] as const)('a way that is %s is %s', (kind, type, retryable) => {
    expect(failureOfError(new TransportFault(kind, 'why'))).toMatchObject({ type, retryable });
  });

  it.each([
    ['out_of_scope', 'permission_denied'],
    ['unknown', 'runtime_unavailable'],
    ['no_value', 'runtime_unavailable'],
  ] as const)('a credential that is %s is %s', (reason, type) => {
    const failure = failureOfError(new CredentialError(reason, 'credentials.c', 'why'));
    expect(failure).toMatchObject({ type, retryable: false, message: 'credentials.c: why' });
  });

  it('keeps a failure that was decided before, and does not hide a defect', () => {
    const failure = failureOf('quota_exceeded', 'no money');
    expect(failureOfError(new RuntimeFault(failure))).toBe(failure);
    expect(() => failureOfError(new TypeError('ours'))).toThrow('ours');
  });

  it.each(['provider_run_failed', 'quota_exceeded', 'outcome_unknown'] as const)(
    '%s is never retried',
    (type) => {
      expect(failureOf(type, '').retryable).toBe(false);
    },
  );
});
