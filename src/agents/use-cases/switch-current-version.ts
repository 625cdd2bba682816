import type { AuditLog } from '../../audit/index.js';
import { AgentStateError } from '../agent-errors.js';
import type { AgentEntity } from '../agent.entity.js';
import type { AgentRepository } from '../agent.repository.js';
import type { RequestedBy } from '../requested-by.js';

/** Lets callers get another published version, an older one for instance. */
export class SwitchCurrentVersion {
  constructor(
    private readonly agents: AgentRepository,
    private readonly audit: AuditLog,
  ) {}

  /** Throws AgentStateError for a draft, an archived agent, or when somebody else changed the agent meanwhile. */
  async execute(
    agentKey: string,
    version: number,
    reason: string | null,
    by: RequestedBy,
  ): Promise<AgentEntity> {
    const agent = await this.agents.findLiving(agentKey);
    const { status } = await this.agents.findVersion(agentKey, version);
    if (status !== 'PUBLISHED') throw new AgentStateError(agentKey, `version ${version} is not published`);
    const at = new Date();
    await this.agents.transaction(async (manager) => {
      await this.agents.change(agent, { currentVersion: version }, at, manager);
      await this.audit.append(manager, {
        ...by,
        action: 'agent.version-switched',
        subject: { type: 'agent', id: agentKey },
        reason,
        before: { currentVersion: agent.currentVersion },
        after: { currentVersion: version },
      });
    });
    return { ...agent, currentVersion: version, updatedAt: at };
  }
}
