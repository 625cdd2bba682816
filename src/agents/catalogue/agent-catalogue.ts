import { LruCache } from '../../common/cache/lru-cache.js';
import type {
  AgentRuntimeRequest,
  OutputContract,
} from '../../runtime-adapters/protocol/agent-runtime-request.js';
import { VersionPolicies, type VersionPolicy } from '../../runtime-adapters/permission/envelope-policy.js';
import { AgentNotFoundError, AgentStateError, AgentVersionNotFoundError } from '../agent-errors.js';
import type { AgentVersionEntity } from '../agent-version.entity.js';
import type { AgentRepository } from '../agent.repository.js';
import { providerRefOf } from '../config/provider-ref-of.js';
import { callPolicies, toolsOf, versionPolicy, type CallPolicies } from './agent-policies.js';

/** How a caller names an agent: by its key, perhaps a version of it, or by the slot it is bound to. */
export type AgentName = { agentKey: string; version?: number } | { slotKey: string };

/** A published version, ready to be called. */
export interface ResolvedAgent {
  agentRef: AgentRuntimeRequest['agentRef'];
  instructions: string;
  outputContract: OutputContract;
  tools: string[];
  policies: CallPolicies;
  /** Tokens one call may use; null where the version sets none. */
  budgetTokens: number | null;
}

/** Published versions kept in memory: they never change. */
const CACHED_VERSIONS = 1_000;

/** Finds agents for those who call them, and their policies for the gate. Fails closed. */
export class AgentCatalogue extends VersionPolicies {
  readonly #published = new LruCache<string, AgentVersionEntity>(CACHED_VERSIONS);

  constructor(private readonly agents: AgentRepository) {
    super();
  }

  /**
   * Null where there is no such agent or slot, where it has no published version, where it is archived, or where its
   * reference is incomplete. No other agent is taken instead.
   */
  async resolve(name: AgentName): Promise<ResolvedAgent | null> {
    const slotKey = 'slotKey' in name ? name.slotKey : null;
    const agentKey = 'slotKey' in name ? await this.#agentOf(name.slotKey) : name.agentKey;
    if (agentKey === null) return null;
    const wanted = 'version' in name ? name.version : undefined;
    const version = await this.#publishedVersion(agentKey, wanted);
    const provider = version && providerRefOf(version.config);
    if (!version || !provider) return null;
    const { config } = version;
    return {
      agentRef: { agentKey, version: version.version, slotKey, provider },
      instructions: config.instructions ?? '',
      outputContract: config.outputContract ?? { type: 'text' },
      tools: toolsOf(provider),
      policies: callPolicies(config),
      budgetTokens: config.budget?.tokens ?? null,
    };
  }

  async find(agentKey: string, version: number): Promise<VersionPolicy | null> {
    const found = await this.#version(agentKey, version);
    const provider = found && providerRefOf(found.config);
    return found && provider ? versionPolicy(found, provider) : null;
  }

  async #agentOf(slotKey: string): Promise<string | null> {
    return (await this.agents.findSlot(slotKey))?.agentKey ?? null;
  }

  async #publishedVersion(agentKey: string, wanted?: number): Promise<AgentVersionEntity | null> {
    const agent = await this.agents.findLiving(agentKey).catch(nullIfAbsent);
    const number = wanted ?? agent?.currentVersion ?? null;
    if (!agent || number === null) return null;
    const version = await this.#version(agentKey, number);
    return version?.status === 'PUBLISHED' ? version : null;
  }

  async #version(agentKey: string, version: number): Promise<AgentVersionEntity | null> {
    const key = `${agentKey}@${version}`;
    const cached = this.#published.get(key);
    if (cached) return cached;
    const found = await this.agents.findVersion(agentKey, version).catch(nullIfAbsent);
    if (found?.status === 'PUBLISHED') this.#published.set(key, found);
    return found;
  }
}

function nullIfAbsent(error: unknown): null {
  if (
    error instanceof AgentNotFoundError ||
    error instanceof AgentStateError ||
    error instanceof AgentVersionNotFoundError
  ) {
    return null;
  }
  throw error;
}
