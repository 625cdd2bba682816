import type { AuditLog } from '../../audit/index.js';
import { AgentExistsError } from '../agent-errors.js';
import type { AgentEntity } from '../agent.entity.js';
import type { AgentRepository } from '../agent.repository.js';
import type { RequestedBy } from '../requested-by.js';

export interface NewAgent {
  /** Kebab-case, at most 64 characters. */
  agentKey: string;
  displayName: string;
  description: string;
}

/** Makes an agent without a version. */
export class CreateAgent {
  constructor(
    private readonly agents: AgentRepository,
    private readonly audit: AuditLog,
  ) {}

  /** Throws AgentExistsError. */
  async execute({ agentKey, displayName, description }: NewAgent, by: RequestedBy): Promise<AgentEntity> {
    const at = new Date();
    const agent: AgentEntity = {
      agentKey,
      displayName,
      description,
      currentVersion: null,
      lastVersion: 0,
      revision: 0,
      createdAt: at,
      updatedAt: at,
      archivedAt: null,
    };
    await this.agents.transaction(async (manager) => {
      if (!(await this.agents.insert(agent, manager))) throw new AgentExistsError(agentKey);
      await this.audit.append(manager, {
        ...by,
        action: 'agent.created',
        subject: { type: 'agent', id: agentKey },
        before: null,
        after: { displayName, description },
      });
    });
    return agent;
  }
}
