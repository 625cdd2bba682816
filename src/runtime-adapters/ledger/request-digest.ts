import { createHash } from 'node:crypto';
import { canonicalJson } from '../../common/json/canonical-json.js';
import type { JsonValue } from '../../common/json/json-value.js';
import type { AgentRuntimeRequest, OutputContract } from '../protocol/agent-runtime-request.js';

/** What a caller said itself where its agent's version has a say as well: part of what it asked. */
export interface OwnTerms {
  outputContract?: OutputContract;
  traceabilityPolicy?: AgentRuntimeRequest['traceabilityPolicy'];
}

/**
 * Tells a repeat of a command from another request under its id. Only what the caller asks counts: the agent's
 * current version, tokens and deadlines may differ between two tries of one request.
 */
export function requestDigest(
  { agentRef, scenario, taskId, jobId, inputEnvelope }: AgentRuntimeRequest,
  { outputContract, traceabilityPolicy }: OwnTerms = {},
): string {
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
    // Left out where they are not said, so that digests of older calls hold.
    ...(outputContract ? { outputContract } : {}),
    ...(traceabilityPolicy?.requireSourceRefs ? { requireSourceRefs: true } : {}),
  };
  return createHash('sha256')
    .update(canonicalJson(asked as unknown as JsonValue))
    .digest('hex');
}
