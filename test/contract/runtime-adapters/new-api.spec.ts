import { NewApiAdapter } from '../../../src/runtime-adapters/new-api/new-api-adapter.js';
import { dataFrame } from '../../support/providers/play.js';
import { newApiError, newApiFrames, NewApiStub } from '../../support/providers/new-api-stub.js';
import { describeAdapterContract } from './adapter-contract.js';
import { CANARY, QUICK } from './harness.js';

const stub = new NewApiStub(CANARY);

describeAdapterContract({
  name: 'New-API',
  ref: { runtimeProvider: 'new-api', newApi: { model: 'gpt-4o-mini', credentialRef: 'c' } },
  stub,
  adapter: (credentials, redactor) => new NewApiAdapter(credentials, redactor, QUICK),
  frames: newApiFrames,
  begun: (texts) => newApiFrames(texts).slice(0, -3),
  errorFrame: (message) => dataFrame(newApiError(message)),
  refuse: (...plays) => {
    stub.next(...plays);
  },
  stream: (...plays) => {
    stub.next(...plays);
  },
  expected: {
    usage: { promptTokens: 11, completionTokens: 7, totalTokens: 18 },
    providerRequestId: 'req-20260101-1',
    errorFrame: 'provider_run_failed',
    lostStream: { type: 'outcome_unknown', retryable: false },
    serverError: { retryable: true, posts: 2 },
    cancel: 'cancelled',
    namesCredential: true,
  },
});
