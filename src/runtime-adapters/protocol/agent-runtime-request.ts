import type { BridgeContextQuery } from '../../bridge/protocol.js';
import type { ProviderRef } from './provider-ref.js';

/** What the caller wants of a runtime, free of any provider's words (agent-runtime-protocol.md §4.1). */
export interface AgentRuntimeRequest {
  /** Idempotency: one ledger row per command. A visit's is `{visitUuid}:{attempt}`. */
  commandId: string;
  /** The run. */
  taskId: string | null;
  /** The visit. */
  jobId: string | null;
  correlationId: string;
  actor: { kind: 'user' | 'admin' | 'system'; id: string };
  agentRef: {
    agentKey: string | null;
    version: number | null;
    slotKey: string | null;
    provider: ProviderRef;
  };
  /** `workflow_node`, `trial`, or the invocation's own word. */
  scenario: string;
  runtimePermissionEnvelopeId: string | null;
  sourceSnapshotId: string | null;
  inputEnvelope: InputEnvelope;
  outputContract: OutputContract;
  traceabilityPolicy: { requireSourceRefs: boolean };
  timeoutPolicy: { totalSeconds: number; idleSeconds: number };
  retryPolicy: { maxAttempts: number };
  auditPolicy: { level: 'summary' | 'none' };
  /** What only our own bridge gets: never leaves for an external provider. */
  workbench?: Workbench;
}

/** The parts that may leave, each only where the permission envelope allows it. */
export interface InputEnvelope {
  /** Standing instructions of the agent (a system prompt). */
  instructions: string;
  /** What is asked this time. */
  instruction: string;
  contextSummary: ContextPart[];
  knowledge: ContextPart[];
  formatRequirements: string | null;
}

export interface ContextPart {
  kind: string;
  ref: string;
  text: string;
}

export interface OutputContract {
  type: 'text' | 'json' | 'sections';
  schema?: Record<string, unknown>;
  sections?: string[];
  maxLength?: number;
}

/** Access to the run's workspace and to what came before, for agents that run in the bridge. */
export interface Workbench {
  runId: string;
  visitUuid: string;
  nodeId: string;
  attempt: number;
  workspaceDir: string;
  tools: string[];
  contextQuery: BridgeContextQuery | null;
  /** The nodes it directly comes from, named in the prompt where it may query them. */
  predecessors: readonly { nodeId: string; label: string }[];
  /** Planner only: answers asked of it so far in the run, re-asks included, from 0. */
  planIndex?: number;
}
