import { randomUUID } from 'node:crypto';
import type { AgentRuntimeRequest } from '../protocol/agent-runtime-request.js';
import type { EnvelopePart, VersionPolicy } from './envelope-policy.js';

/** The runtime permission envelope of one call (agent-runtime-protocol.md §4.1): stored with it, valid for it only. */
export interface PermissionEnvelope {
  id: string;
  /** Null for an agent written in the graph. */
  agentKey: string | null;
  version: number | null;
  /** Who calls, and for what. */
  actor: AgentRuntimeRequest['actor'];
  scenario: string;
  allow: readonly EnvelopePart[];
  maxChars: number;
  toolGrants: readonly string[];
  /** ISO-8601 UTC. */
  issuedAt: string;
  /** After this nothing may be sent and no answer is taken any more. */
  expiresAt: string;
}

/** Time beyond a call's own deadline for an adapter to report its end. */
const GRACE_SECONDS = 30;

/** Derived from the version's policy and the caller; nothing of it comes from a request's body. */
export function issueEnvelope(
  request: AgentRuntimeRequest,
  policy: VersionPolicy,
  issuedAt: Date,
): PermissionEnvelope {
  const { agentKey, version } = request.agentRef;
  const lifetime = (request.timeoutPolicy.totalSeconds + GRACE_SECONDS) * 1000;
  return {
    id: randomUUID(),
    agentKey,
    version,
    actor: request.actor,
    scenario: request.scenario,
    allow: [...policy.envelope.allow],
    maxChars: policy.envelope.maxChars,
    toolGrants: [...policy.tools],
    issuedAt: issuedAt.toISOString(),
    expiresAt: new Date(issuedAt.getTime() + lifetime).toISOString(),
  };
}
