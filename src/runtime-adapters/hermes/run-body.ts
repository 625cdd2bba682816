import { tmpdir } from 'node:os';
import type { BridgeRunRequest } from '../../bridge/protocol.js';
import type { AgentRuntimeRequest, OutputContract } from '../protocol/agent-runtime-request.js';
import { composePrompt } from '../protocol/compose-prompt.js';
import { contextInstructions } from './context-instructions.js';

/**
 * The body of `POST /run` for a request. Without a workbench (a trial, an invocation) there is no run: the agent gets no
 * tools, and the ids are those of the command.
 */
export function runBody(request: AgentRuntimeRequest, model: string): BridgeRunRequest {
  const { workbench, commandId, timeoutPolicy } = request;
  const { system, user } = composePrompt(request);
  const body: BridgeRunRequest = {
    run_id: workbench?.runId ?? request.taskId ?? commandId,
    visit_uuid: workbench?.visitUuid ?? request.jobId ?? commandId,
    node_id: workbench?.nodeId ?? request.agentRef.agentKey ?? 'agent',
    model,
    instructions: system,
    prompt: user,
    tools: workbench?.tools ?? [],
    workspace_dir: workbench?.workspaceDir ?? tmpdir(),
    output_schema: outputSchema(request.outputContract),
    timeout_seconds: timeoutPolicy.totalSeconds,
  };
  if (!workbench) return body;
  body.attempt = workbench.attempt;
  if (workbench.planIndex !== undefined) body.plan_index = workbench.planIndex;
  if (workbench.contextQuery) {
    // The key is absent, not null, where the feature is off (internal-context-query.md §4.1).
    body.context_query = workbench.contextQuery;
    body.instructions = [system, contextInstructions(workbench.predecessors)]
      .filter((part) => part !== '')
      .join('\n\n');
  }
  return body;
}

function outputSchema({ type, schema }: OutputContract): Record<string, unknown> | null {
  return type === 'json' ? (schema ?? { type: 'object' }) : null;
}
