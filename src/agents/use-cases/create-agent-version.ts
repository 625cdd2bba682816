import type { AuditLog } from '../../audit/index.js';
import { ValidationError } from '../../common/errors/domain-error.js';
import type { AgentVersionEntity } from '../agent-version.entity.js';
import type { AgentRepository } from '../agent.repository.js';
import { checkAgentConfig } from '../config/check-agent-config.js';
import { secretFields, type SecretFinder } from '../config/secret-fields.js';
import type { RequestedBy } from '../requested-by.js';
import { auditedVersion } from '../version-audit.js';

/** Adds a draft to an agent. */
export class CreateAgentVersion {
  constructor(
    private readonly agents: AgentRepository,
    private readonly audit: AuditLog,
    private readonly secrets: SecretFinder,
  ) {}

  /** `config` as it came. Throws ValidationError with a field for each problem, AgentNotFoundError, AgentStateError. */
  async execute(agentKey: string, config: unknown, by: RequestedBy): Promise<AgentVersionEntity> {
    await this.agents.findLiving(agentKey);
    return this.addDraft(agentKey, config, null, by);
  }

  async addDraft(
    agentKey: string,
    given: unknown,
    copiedFrom: number | null,
    by: RequestedBy,
  ): Promise<AgentVersionEntity> {
    const { config, problems } = checkAgentConfig(given);
    if (!config) throw ValidationError.ofFields(problems);
    const leaks = secretFields('config', config, this.secrets);
    if (leaks.length > 0) throw ValidationError.ofFields(leaks);
    return this.agents.transaction(async (manager) => {
      const agent = await this.agents.lockLiving(agentKey, manager);
      const content = { config, copiedFrom, createdAt: new Date(), createdBy: by.actor.name };
      const draft = await this.agents.insertDraft(agent, content, manager);
      await this.audit.append(manager, {
        ...by,
        action: copiedFrom === null ? 'agent.version-created' : 'agent.version-copied',
        subject: { type: 'agent', id: agentKey },
        before: null,
        after: auditedVersion(draft),
      });
      return draft;
    });
  }
}
