import { AgentScopeAdapter } from '../../../src/runtime-adapters/agentscope/agentscope-adapter.js';
import {
  AgentScopeSessionStub,
  replyEnd,
  sessionFrames,
} from '../../support/providers/agentscope-session-stub.js';
import {
  AgentScopeStub,
  processFrames,
  processResponse,
  RESPONSE_ID,
} from '../../support/providers/agentscope-stub.js';
import { describeAdapterContract } from './adapter-contract.js';
import { CANARY, QUICK } from './harness.js';

const runtime = new AgentScopeStub(CANARY);
const sessions = new AgentScopeSessionStub(CANARY);

describeAdapterContract({
  name: 'AgentScope Runtime 1.1',
  ref: { runtimeProvider: 'agentscope', agentscope: { agentId: 'friday', credentialRef: 'c' } },
  stub: runtime,
  adapter: (credentials, redactor) => new AgentScopeAdapter(credentials, redactor, QUICK),
  frames: processFrames,
  begun: (texts) => processFrames(texts).slice(0, -1),
  errorFrame: (message) => processResponse('failed', { error: { code: 'AGENT_ERROR', message } }),
  refuse: (...plays) => {
    runtime.next(...plays);
  },
  stream: (...plays) => {
    runtime.next(...plays);
  },
  expected: {
    usage: { promptTokens: 11, completionTokens: 7, totalTokens: 18 },
    providerRequestId: RESPONSE_ID,
    errorFrame: 'provider_run_failed',
    lostStream: { type: 'outcome_unknown', retryable: false },
    serverError: { retryable: true, posts: 2 },
    cancel: 'outcome_unknown',
    namesCredential: true,
  },
});

describeAdapterContract({
  name: 'AgentScope 2.0',
  ref: {
    runtimeProvider: 'agentscope',
    agentscope: { agentId: 'friday', protocolVersion: 2, credentialRef: 'c' },
  },
  stub: sessions,
  adapter: (credentials, redactor) => new AgentScopeAdapter(credentials, redactor, QUICK),
  frames: sessionFrames,
  begun: (texts) => sessionFrames(texts).slice(0, -1),
  errorFrame: (message) => replyEnd('error', { code: 'AGENT_ERROR', message }),
  refuse: (...plays) => {
    sessions.chats.push(...plays);
  },
  stream: (...plays) => {
    sessions.next(...plays);
  },
  expected: {
    usage: { promptTokens: 11, completionTokens: 7, totalTokens: 18 },
    providerRequestId: 'session-1',
    errorFrame: 'provider_run_failed',
    lostStream: { type: 'outcome_unknown', retryable: false },
    serverError: { retryable: true, posts: 2 },
    cancel: 'cancelled',
    namesCredential: true,
  },
});
