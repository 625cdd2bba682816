import type { ProviderRef } from '../../runtime-adapters/protocol/provider-ref.js';
import type { AgentConfig } from './agent-config.js';

/**
 * The reference a config names; null where it is incomplete, which then fails closed. A stored config without
 * `runtimeProvider` is an old one and means `new-api` (decision 35).
 */
export function providerRefOf(config: Partial<AgentConfig>): ProviderRef | null {
  const { runtimeProvider = 'new-api', hermes, newApi, dify, agentscope, writer } = config;
  switch (runtimeProvider) {
    case 'hermes':
      return hermes ? { runtimeProvider, hermes } : null;
    case 'new-api':
      return newApi ? { runtimeProvider, newApi } : null;
    case 'dify': {
      if (!dify) return null;
      const { appId = null, workflowId = null, ...rest } = dify;
      return { runtimeProvider, dify: { ...rest, appId, workflowId } };
    }
    case 'agentscope': {
      if (!agentscope) return null;
      const { graphId, agentId, version, protocolVersion, credentialRef } = agentscope;
      return {
        runtimeProvider,
        agentscope: {
          credentialRef,
          ...(graphId ? { graphId } : {}),
          ...(agentId ? { agentId } : {}),
          ...(version ? { version } : {}),
          ...(protocolVersion ? { protocolVersion } : {}),
        },
      };
    }
    case 'isolated-writer':
      return writer ? { runtimeProvider, writer } : null;
  }
}

/** The credential a reference names and the provider it must be of; null for our own bridge, which needs none. */
export function credentialOf(ref: ProviderRef): { field: string; ref: string; provider: string } | null {
  switch (ref.runtimeProvider) {
    case 'hermes':
      return null;
    case 'new-api':
      return { field: 'newApi.credentialRef', ref: ref.newApi.credentialRef, provider: 'new-api' };
    case 'dify':
      return { field: 'dify.credentialRef', ref: ref.dify.credentialRef, provider: 'dify' };
    case 'agentscope':
      return { field: 'agentscope.credentialRef', ref: ref.agentscope.credentialRef, provider: 'agentscope' };
    // The writer's one model call goes to a model gateway; the writer itself holds no credential.
    case 'isolated-writer':
      return { field: 'writer.credentialRef', ref: ref.writer.credentialRef, provider: 'new-api' };
  }
}
