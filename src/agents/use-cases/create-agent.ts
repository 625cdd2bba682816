import type { AuditLog } from '../../audit/index.js';
import { ValidationError } from '../../common/errors/domain-error.js';
import { AgentExistsError } from '../agent-errors.js';
import type { AgentEntity } from '../agent.entity.js';
import type { AgentRepository } from '../agent.repository.js';
import { secretFields, type SecretFinder } from '../config/secret-fields.js';
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
    private readonly secrets: SecretFinder,
  ) {}

  /** Throws AgentExistsError, and ValidationError for a text that holds a secret. */
  async execute({ agentKey, displayName, description }: NewAgent, by: RequestedBy): Promise<AgentEntity> {
    const leaks = [
      ...secretFields('displayName', displayName, this.secrets),
      ...secretFields('description', description, this.secrets),
    ];
    if (leaks.length > 0) throw ValidationError.ofFields(leaks);
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
