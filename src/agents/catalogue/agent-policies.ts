import type { AgentRuntimeRequest } from '../../runtime-adapters/protocol/agent-runtime-request.js';
import { DEFAULT_ENVELOPE, type VersionPolicy } from '../../runtime-adapters/permission/envelope-policy.js';
import type { ProviderRef } from '../../runtime-adapters/protocol/provider-ref.js';
import type { AgentVersionEntity } from '../agent-version.entity.js';
import type { AgentConfig } from '../config/agent-config.js';

const DEFAULT_TIMEOUT = { totalSeconds: 300, idleSeconds: 60 };

/** What the gate holds a version's calls to. */
export function versionPolicy(
  { status, config }: Pick<AgentVersionEntity, 'status' | 'config'>,
  provider: ProviderRef,
): VersionPolicy {
  return {
    status,
    provider,
    envelope: {
      allow: config.envelope?.allow ?? DEFAULT_ENVELOPE.allow,
      maxChars: config.envelope?.maxChars ?? DEFAULT_ENVELOPE.maxChars,
    },
    tools: toolsOf(provider),
    budgetTokens: config.budget?.tokens ?? null,
    requireSourceRefs: config.traceabilityPolicy?.requireSourceRefs ?? false,
  };
}

export function toolsOf(provider: ProviderRef): string[] {
  return provider.runtimeProvider === 'hermes' ? [...(provider.hermes.tools ?? [])] : [];
}

/** How a version wants to be called, with the defaults where it says nothing. */
export type CallPolicies = Pick<
  AgentRuntimeRequest,
  'traceabilityPolicy' | 'timeoutPolicy' | 'retryPolicy' | 'auditPolicy'
>;

export function callPolicies(config: Partial<AgentConfig>): CallPolicies {
  const { totalSeconds, idleSeconds } = { ...DEFAULT_TIMEOUT, ...config.timeoutPolicy };
  return {
    traceabilityPolicy: { requireSourceRefs: config.traceabilityPolicy?.requireSourceRefs ?? false },
    timeoutPolicy: { totalSeconds, idleSeconds: Math.min(idleSeconds, totalSeconds) },
    retryPolicy: { maxAttempts: config.retryPolicy?.maxAttempts ?? 1 },
    auditPolicy: { level: 'summary' },
  };
}
