import type { AgentRuntimeRequest } from '../protocol/agent-runtime-request.js';
import type { ProviderRef } from '../protocol/provider-ref.js';

/** Parts of `inputEnvelope` that a policy allows or not; standing instructions belong to the agent itself. */
export const ENVELOPE_PARTS = ['instruction', 'contextSummary', 'knowledge', 'formatRequirements'] as const;
export type EnvelopePart = (typeof ENVELOPE_PARTS)[number];

/** What a version allows to leave: `envelope` of its config. */
export interface EnvelopePolicy {
  allow: readonly EnvelopePart[];
  /** Characters (code points) of all parts together, references of context included. */
  maxChars: number;
}

/** Where a version says nothing: what the caller itself asks, and none of the context. */
export const DEFAULT_ENVELOPE: EnvelopePolicy = {
  allow: ['instruction', 'formatRequirements'],
  maxChars: 200_000,
};

/** An agent that is written in the graph runs in our own bridge; the graph's author decides what it gets. */
export const INLINE_ENVELOPE: EnvelopePolicy = { allow: ENVELOPE_PARTS, maxChars: 2_000_000 };

/** What a version says about its calls, as far as the gate needs it. */
export interface VersionPolicy {
  status: 'DRAFT' | 'PUBLISHED';
  provider: ProviderRef;
  envelope: EnvelopePolicy;
  /** Names of tools the agent may use. */
  tools: readonly string[];
  /** Tokens one call may use; null: no limit of its own. */
  budgetTokens: number | null;
  requireSourceRefs: boolean;
}

/** Finds a version's policy; the agents context implements it. Injection token and port in one. */
export abstract class VersionPolicies {
  /** Null where there is no such version. */
  abstract find(agentKey: string, version: number): Promise<VersionPolicy | null>;
}

/**
 * The policy that holds for a request: its version's, or the one for agents written in the graph. Never taken from
 * the request. Null where the request names a version that is not there, or an inline agent outside our bridge.
 */
export async function policyOf(
  { agentKey, version, provider }: AgentRuntimeRequest['agentRef'],
  policies: VersionPolicies,
): Promise<VersionPolicy | null> {
  if (agentKey !== null) return version === null ? null : policies.find(agentKey, version);
  if (provider.runtimeProvider !== 'hermes') return null;
  return {
    status: 'PUBLISHED',
    provider,
    envelope: INLINE_ENVELOPE,
    tools: provider.hermes.tools ?? [],
    budgetTokens: null,
    requireSourceRefs: false,
  };
}
