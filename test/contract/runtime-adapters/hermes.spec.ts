import type { Credentials } from '../../../src/credentials/index.js';
import { HermesAdapter, type BridgeSource } from '../../../src/runtime-adapters/hermes/index.js';
import { bridgeFrame, bridgeFrames, BridgeStub } from '../../support/providers/bridge-stub.js';
import { describeAdapterContract } from './adapter-contract.js';
import { CANARY } from './harness.js';

const stub = new BridgeStub(CANARY);

/** A bridge that somebody else runs, at the credential's address. */
function bridgeAt(credentials: Credentials): BridgeSource {
  return {
    title: 'the bridge',
    start: () => undefined,
    endpoint: async () => {
      const { baseUrl, value } = await credentials.resolve('c', { provider: 'hermes', agentKey: null });
      return { url: baseUrl, secret: value };
    },
    problemWithModels: () => Promise.resolve(null),
    isReady: () => true,
    isStopping: () => false,
    stop: () => Promise.resolve(),
  };
}

describeAdapterContract({
  name: 'Hermes',
  ref: { runtimeProvider: 'hermes', hermes: { model: 'demo' } },
  stub,
  adapter: (credentials, redactor) =>
    new HermesAdapter({ bridge: bridgeAt(credentials), redactor, allowDemo: true }),
  frames: bridgeFrames,
  begun: (texts) => bridgeFrames(texts).slice(0, -1),
  errorFrame: (message) => bridgeFrame('error', { code: 'MODEL', message, retryable: false }),
  refuse: (...plays) => {
    stub.next(...plays);
  },
  stream: (...plays) => {
    stub.next(...plays);
  },
  expected: {
    usage: { promptTokens: 11, completionTokens: 7, totalTokens: 18 },
    providerRequestId: null,
    errorFrame: 'provider_run_failed',
    // The bridge is ours and keeps nothing running: what was lost may be made again (decision 32).
    lostStream: { type: 'connect_failed', retryable: true },
    serverError: { retryable: true, posts: 1 },
    cancel: 'cancelled',
    namesCredential: false,
  },
});
