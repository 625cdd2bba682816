import { SecretRedactor } from '../../credentials/index.js';
import type { AgentRuntimeRequest } from './agent-runtime-request.js';
import { forbiddenFieldsOf } from './forbidden-fields.js';

const REQUEST: AgentRuntimeRequest = {
  commandId: 'c:1',
  taskId: null,
  jobId: null,
  correlationId: 'r',
  actor: { kind: 'system', id: 'workflow:w' },
  agentRef: {
    agentKey: null,
    version: null,
    slotKey: null,
    provider: { runtimeProvider: 'new-api', newApi: { model: 'm', credentialRef: 'c' } },
  },
  scenario: 'workflow_node',
  runtimePermissionEnvelopeId: null,
  sourceSnapshotId: null,
  inputEnvelope: {
    instructions: '',
    instruction: 'x',
    contextSummary: [],
    knowledge: [],
    formatRequirements: null,
  },
  outputContract: { type: 'json', schema: { properties: { password: { type: 'string' } } } },
  traceabilityPolicy: { requireSourceRefs: false },
  timeoutPolicy: { totalSeconds: 1, idleSeconds: 1 },
  retryPolicy: { maxAttempts: 1 },
  auditPolicy: { level: 'summary' },
};

const redactor = new SecretRedactor();
redactor.register('credentials.c', 'canary-key-1');

function refusals(change: Record<string, unknown>): string[] {
  const request = { ...REQUEST, ...change };
  return forbiddenFieldsOf(request, redactor).map(({ field, why }) => `${field}: ${why}`);
}

describe('forbiddenFieldsOf', () => {
  it('lets a request go that has the fields of the protocol only, also a schema that names a password', () => {
    expect(forbiddenFieldsOf(REQUEST, redactor)).toEqual([]);
  });

  it('does not look into the workbench, which goes to our own bridge only', () => {
    expect(refusals({ workbench: { contextQuery: { token: 'canary-key-1' } } })).toEqual([]);
  });

  it.each([
    [{ apiKey: 'x' }, ['apiKey: secret']],
    [{ actor: { kind: 'user', id: 'u', accessToken: 'x' } }, ['actor.accessToken: secret']],
    [{ rawProviderResponse: {} }, ['rawProviderResponse: raw provider response']],
    [{ permissions: ['all'] }, ['permissions: self-reported permission']],
    [
      { inputEnvelope: { ...REQUEST.inputEnvelope, toolGrants: [] } },
      ['inputEnvelope.toolGrants: self-reported permission'],
    ],
    [{ somethingElse: 1 }, ['somethingElse: unknown field']],
    [{ timeoutPolicy: { totalSeconds: -1, idleSeconds: 1 } }, ['timeoutPolicy.totalSeconds: malformed']],
    [
      { inputEnvelope: { ...REQUEST.inputEnvelope, instruction: 'use canary-key-1' } },
      ['inputEnvelope.instruction: secret'],
    ],
    [
      {
        inputEnvelope: {
          ...REQUEST.inputEnvelope,
          knowledge: [{ kind: 'k', ref: 'r', text: 'canary-key-1' }],
        },
      },
      ['inputEnvelope.knowledge.0.text: secret'],
    ],
  ])('refuses %j', (change, expected) => {
    expect(refusals(change)).toEqual(expected);
  });
});
