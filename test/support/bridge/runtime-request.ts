import type {
  AgentRuntimeRequest,
  Workbench,
} from '../../../src/runtime-adapters/protocol/agent-runtime-request.js';

/** A visit's request for an inline agent, its defaults filled in. */
export function runtimeRequest(
  instruction: string,
  more: Partial<AgentRuntimeRequest> & { bench?: Partial<Workbench>; model?: string } = {},
): AgentRuntimeRequest {
  const { bench, model = 'demo', ...request } = more;
  return {
    commandId: 'visit-1:1',
    taskId: 'run-1',
    jobId: 'visit-1',
    correlationId: 'run-1',
    actor: { kind: 'system', id: 'workflow:test' },
    agentRef: {
      agentKey: null,
      version: null,
      slotKey: null,
      provider: { runtimeProvider: 'hermes', hermes: { model } },
    },
    scenario: 'workflow_node',
    runtimePermissionEnvelopeId: null,
    sourceSnapshotId: null,
    inputEnvelope: {
      instructions: 'Be brief',
      instruction,
      contextSummary: [],
      knowledge: [],
      formatRequirements: null,
    },
    outputContract: { type: 'text' },
    traceabilityPolicy: { requireSourceRefs: false },
    timeoutPolicy: { totalSeconds: 30, idleSeconds: 30 },
    retryPolicy: { maxAttempts: 1 },
    auditPolicy: { level: 'summary' },
    workbench: {
      runId: 'run-1',
      visitUuid: 'visit-1',
      nodeId: 'writer',
      attempt: 1,
      workspaceDir: '/tmp',
      tools: [],
      contextQuery: null,
      predecessors: [],
      ...bench,
    },
    ...request,
  };
}
