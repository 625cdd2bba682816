import { DifyAdapter } from '../../../src/runtime-adapters/dify/dify-adapter.js';
import { dataFrame } from '../../support/providers/play.js';
import {
  difyChatFrames,
  difyError,
  DifyStub,
  difyWorkflowFrames,
  MESSAGE_ID,
  RUN_ID,
} from '../../support/providers/dify-stub.js';
import { describeAdapterContract } from './adapter-contract.js';
import { CANARY, QUICK, type AdapterHarness } from './harness.js';

function harnessOf(appType: 'agent' | 'chat' | 'workflow'): AdapterHarness {
  const stub = new DifyStub(CANARY);
  const isWorkflow = appType === 'workflow';
  const play: AdapterHarness['stream'] = (...plays) => {
    stub.next(...plays);
  };
  const frames = (texts: readonly string[]): string[] =>
    isWorkflow
      ? difyWorkflowFrames(texts)
      : difyChatFrames(texts, appType === 'agent' ? 'agent_message' : 'message');
  return {
    name: `Dify (${appType})`,
    ref: { runtimeProvider: 'dify', dify: { appType, appId: 'app-1', workflowId: null, credentialRef: 'c' } },
    stub,
    adapter: (credentials, redactor) => new DifyAdapter(credentials, redactor, QUICK),
    frames,
    begun: (texts) => frames(texts).slice(0, -1),
    errorFrame: (message) =>
      dataFrame({ event: 'error', ...difyError(400, 'completion_request_error', message) }),
    refuse: play,
    stream: play,
    expected: {
      usage: isWorkflow
        ? { promptTokens: null, completionTokens: null, totalTokens: 18 }
        : { promptTokens: 11, completionTokens: 7, totalTokens: 18 },
      providerRequestId: isWorkflow ? RUN_ID : MESSAGE_ID,
      errorFrame: 'provider_run_failed',
      lostStream: { type: 'outcome_unknown', retryable: false },
      serverError: { retryable: false, posts: 1 },
      cancel: 'cancelled',
      namesCredential: true,
    },
  };
}

describeAdapterContract(harnessOf('workflow'));
describeAdapterContract(harnessOf('chat'));
describeAdapterContract(harnessOf('agent'));
