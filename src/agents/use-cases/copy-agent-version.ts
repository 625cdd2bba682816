import { ValidationError } from '../../common/errors/domain-error.js';
import type { AgentVersionEntity } from '../agent-version.entity.js';
import type { AgentRepository } from '../agent.repository.js';
import { REFERENCE_KEYS } from '../config/agent-config.js';
import type { RequestedBy } from '../requested-by.js';
import type { CreateAgentVersion } from './create-agent-version.js';

/** Makes a new draft of an existing version, with some keys of its config replaced. */
export class CopyAgentVersion {
  constructor(
    private readonly agents: AgentRepository,
    private readonly createVersion: CreateAgentVersion,
  ) {}

  /**
   * `overrides` replace whole top-level keys; null removes one. Another `runtimeProvider` drops the reference of the
   * former one. An old version without `runtimeProvider` must be given one (decision 35). Throws as
   * CreateAgentVersion does.
   */
  async execute(
    agentKey: string,
    version: number,
    overrides: unknown,
    by: RequestedBy,
  ): Promise<AgentVersionEntity> {
    await this.agents.findLiving(agentKey);
    const source = await this.agents.findVersion(agentKey, version);
    const config = merged(source.config, overrides ?? {});
    return this.createVersion.addDraft(agentKey, config, version, by);
  }
}

function merged(source: AgentVersionEntity['config'], overrides: unknown): Record<string, unknown> {
  if (typeof overrides !== 'object' || overrides === null || Array.isArray(overrides)) {
    throw ValidationError.ofFields([{ field: 'config', message: 'must be an object of overrides' }]);
  }
  const replaced = overrides as Record<string, unknown>;
  const { runtimeProvider } = replaced;
  const references: readonly string[] = Object.values(REFERENCE_KEYS);
  const dropsReference = runtimeProvider !== undefined && runtimeProvider !== source.runtimeProvider;
  const kept = Object.entries(source).filter(([key]) => !dropsReference || !references.includes(key));
  return Object.fromEntries(
    Object.entries({ ...Object.fromEntries(kept), ...replaced }).filter(([, value]) => value !== null),
  );
}
