import { createHash } from 'node:crypto';
import { canonicalJson } from '../../common/json/canonical-json.js';
import type { JsonValue } from '../../common/json/json-value.js';
import type { AgentRuntimeRequest } from '../protocol/agent-runtime-request.js';

/**
 * Tells a repeat of a command from another request under its id. Only what the caller asks counts: the agent's
 * current version, tokens and deadlines may differ between two tries of one request.
 */
export function requestDigest({
  agentRef,
  scenario,
  taskId,
  jobId,
  inputEnvelope,
}: AgentRuntimeRequest): string {
  const { instruction, contextSummary, knowledge, formatRequirements } = inputEnvelope;
  const asked = {
    agentKey: agentRef.agentKey,
    model: agentRef.agentKey === null ? agentRef.provider : null,
    scenario,
    taskId,
    jobId,
    instruction,
    contextSummary,
    knowledge,
    formatRequirements,
  };
  return createHash('sha256')
    .update(canonicalJson(asked as unknown as JsonValue))
    .digest('hex');
}
