import type { ContextTokens } from '../../context-query/index.js';
import type { AgentRuntimeEvent } from '../../runtime-adapters/protocol/agent-runtime-event.js';
import type { AgentRuntimeRequest } from '../../runtime-adapters/protocol/agent-runtime-request.js';
import type {
  AgentRuntimeResponse,
  RuntimeOutput,
} from '../../runtime-adapters/protocol/agent-runtime-response.js';
import type { Workspaces } from '../../runs/workspaces/workspaces.js';
import type { RecoveredCall } from '../../runtime-adapters/ledger/recover-runtime-call.js';
import type { NodeVisit } from './node-executor.js';
import { NodeFailure } from './node-failure.js';

/** What executes agents; the router, or the router behind its permission gate and ledger. */
export interface AgentRuntime {
  execute(request: AgentRuntimeRequest, signal: AbortSignal): AsyncIterable<AgentRuntimeEvent>;
  /** What became of a visit's earlier calls; absent where calls are not recorded. */
  recoverVisit?(visitUuid: string, attempt: number, signal: AbortSignal): Promise<RecoveredCall>;
}

/** The parts of a request that the node decides. */
export type NodeCall = Pick<AgentRuntimeRequest, 'agentRef' | 'inputEnvelope' | 'outputContract'> &
  Partial<Pick<AgentRuntimeRequest, 'traceabilityPolicy' | 'timeoutPolicy' | 'retryPolicy'>> & {
    tools: string[];
    /** A call of the planner: it gets no context token, and one visit may ask several times. */
    planner?: { planIndex: number; asksBefore: number };
  };

/**
 * Lets a runtime act for a visit: hands out a context token that lives exactly as long as the call, turns its
 * events into the visit's log, and gives the answer. Throws NodeFailure for every other end.
 */
export class CallRuntime {
  constructor(
    private readonly runtime: AgentRuntime,
    private readonly tokens: ContextTokens,
    private readonly workspaces: Pick<Workspaces, 'create'>,
  ) {}

  async execute(visit: NodeVisit, call: NodeCall, signal: AbortSignal): Promise<RuntimeOutput> {
    const recovered = await this.#recovered(visit, call, signal);
    if (recovered) return outputOf(recovered);
    await this.workspaces.create(visit.run.runId);
    if (!call.planner) await this.tokens.ready();
    const notAfter = new Date(Date.now() + visit.timeoutSeconds * 1000);
    const { visitUuid, nodeId } = visit;
    const contextQuery = call.planner
      ? null
      : this.tokens.issue({ runId: visit.run.runId, visitUuid, nodeId, notAfter });
    try {
      const request = requestOf(visit, call, contextQuery);
      for await (const event of this.runtime.execute(request, signal)) {
        if (contextQuery) this.tokens.renew(contextQuery.token);
        const response = report(visit, event);
        if (response) return outputOf(response);
      }
      throw new NodeFailure('RUNTIME', 'the runtime ended without an answer');
    } finally {
      if (contextQuery) this.tokens.revoke(contextQuery.token);
    }
  }

  /** How the call ended that a crash cut off; null where the attempt has to be made (decision 32). */
  async #recovered(
    visit: NodeVisit,
    call: NodeCall,
    signal: AbortSignal,
  ): Promise<AgentRuntimeResponse | null> {
    // Planners run in our own bridge, which is always asked again.
    if (!visit.resumed || call.planner) return null;
    const recovered = await this.runtime.recoverVisit?.(visit.visitUuid, visit.attempt, signal);
    if (recovered?.kind !== 'ended') return null;
    visit.log({
      type: 'info',
      message: 'the call that a restart cut off was recovered; nothing was sent again',
    });
    visit.spend({ tokens: recovered.response.usage?.totalTokens ?? 0 });
    return recovered.response;
  }
}

function requestOf(
  visit: NodeVisit,
  call: NodeCall,
  contextQuery: ReturnType<ContextTokens['issue']>,
): AgentRuntimeRequest {
  const { run, visitUuid, attempt } = visit;
  const { tools, planner, ...parts } = call;
  const again = planner && planner.asksBefore > 0 ? `:${planner.asksBefore + 1}` : '';
  return {
    commandId: `${visitUuid}:${attempt}${again}`,
    taskId: run.runId,
    jobId: visitUuid,
    correlationId: run.runId,
    actor: { kind: 'system', id: `workflow:${run.workflowName}` },
    scenario: 'workflow_node',
    runtimePermissionEnvelopeId: null,
    sourceSnapshotId: null,
    traceabilityPolicy: { requireSourceRefs: false },
    timeoutPolicy: { totalSeconds: visit.timeoutSeconds, idleSeconds: Math.min(120, visit.timeoutSeconds) },
    retryPolicy: { maxAttempts: 1 },
    auditPolicy: { level: 'summary' },
    ...parts,
    workbench: {
      runId: run.runId,
      visitUuid,
      nodeId: visit.nodeId,
      attempt,
      workspaceDir: run.workspaceDir,
      tools,
      contextQuery,
      predecessors: visit.predecessors,
      ...(planner ? { planIndex: planner.planIndex } : {}),
    },
  };
}

/** Adds an event to the visit's log; gives the response with the last one. */
function report(visit: NodeVisit, event: AgentRuntimeEvent): AgentRuntimeResponse | null {
  switch (event.type) {
    case 'runtime.delta':
      visit.log({ type: event.channel, text: event.text });
      return null;
    case 'runtime.tool_call':
      visit.log({ type: 'tool_call', tool: event.tool, callId: event.callId, args: event.args });
      visit.spend({ toolCalls: 1 });
      return null;
    case 'runtime.tool_result': {
      const { tool, callId, result, error } = event;
      visit.log({ type: 'tool_result', tool, callId, result, error });
      return null;
    }
    case 'runtime.todo':
      visit.log({ type: 'todo', todos: event.todos });
      return null;
    case 'runtime.completed':
    case 'runtime.failed':
    case 'runtime.cancelled':
      visit.spend({ tokens: event.response.usage?.totalTokens ?? 0 });
      return event.response;
    case 'runtime.requested':
    case 'runtime.started':
    case 'runtime.heartbeat':
      return null;
  }
}

function outputOf(response: AgentRuntimeResponse): RuntimeOutput {
  if (response.status === 'succeeded' && response.output) return response.output;
  const { failure, status } = response;
  const message = failure?.message ?? `the runtime answered ${status}`;
  const retryable = failure?.retryable ?? false;
  const code =
    failure?.code === 'bridge_lost'
      ? 'bridge_lost'
      : (failure?.type ?? (status === 'cancelled' ? 'CANCELLED' : 'RUNTIME'));
  throw new NodeFailure(code, message, { retryable });
}
