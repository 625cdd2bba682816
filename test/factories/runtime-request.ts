import { randomUUID } from 'node:crypto';
import type { AgentRuntimeRequest } from '../../src/runtime-adapters/protocol/agent-runtime-request.js';
import type { ProviderRef } from '../../src/runtime-adapters/protocol/provider-ref.js';

export const NEW_API: ProviderRef = {
  runtimeProvider: 'new-api',
  newApi: { model: 'm', credentialRef: 'new-api-test' },
};

export const HERMES: ProviderRef = { runtimeProvider: 'hermes', hermes: { model: 'demo' } };

/** A request as an invocation of agent `writer`, version 1, makes it. */
export function runtimeRequest(more: Partial<AgentRuntimeRequest> = {}): AgentRuntimeRequest {
  return {
    commandId: `cmd-${randomUUID()}`,
    taskId: null,
    jobId: null,
    correlationId: 'correlation-1',
    actor: { kind: 'admin', id: 'ci' },
    agentRef: { agentKey: 'writer', version: 1, slotKey: null, provider: NEW_API },
    scenario: 'rewrite',
    runtimePermissionEnvelopeId: null,
    sourceSnapshotId: null,
    inputEnvelope: {
      instructions: 'You write.',
      instruction: 'Rewrite this',
      contextSummary: [],
      knowledge: [],
      formatRequirements: null,
    },
    outputContract: { type: 'text' },
    traceabilityPolicy: { requireSourceRefs: false },
    timeoutPolicy: { totalSeconds: 60, idleSeconds: 20 },
    retryPolicy: { maxAttempts: 1 },
    auditPolicy: { level: 'summary' },
    ...more,
  };
}
