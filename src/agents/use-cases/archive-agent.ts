import type { AuditLog } from '../../audit/index.js';
import { AgentStateError } from '../agent-errors.js';
import type { AgentEntity } from '../agent.entity.js';
import type { AgentRepository } from '../agent.repository.js';
import type { RequestedBy } from '../requested-by.js';

/** Takes an agent out of use; its versions and calls stay. */
export class ArchiveAgent {
  constructor(
    private readonly agents: AgentRepository,
    private readonly audit: AuditLog,
  ) {}

  /** Throws AgentStateError where it is archived already, or where slots are bound to it. */
  async execute(agentKey: string, by: RequestedBy): Promise<AgentEntity> {
    const at = new Date();
    return this.agents.transaction(async (manager) => {
      const agent = await this.agents.lockLiving(agentKey, manager);
      const slots = await this.agents.slotsOf(agentKey, manager);
      if (slots.length > 0) {
        const named = slots.slice(0, 10).map(({ slotKey }) => slotKey);
        throw new AgentStateError(
          agentKey,
          `it is bound to ${named.join(', ')}; bind another agent there first`,
        );
      }
      await this.agents.change(agent, { archivedAt: at }, at, manager);
      await this.audit.append(manager, {
        ...by,
        action: 'agent.archived',
        subject: { type: 'agent', id: agentKey },
        before: { currentVersion: agent.currentVersion, archivedAt: null },
        after: { currentVersion: agent.currentVersion, archivedAt: at.toISOString() },
      });
      return { ...agent, archivedAt: at, updatedAt: at };
    });
  }
}
