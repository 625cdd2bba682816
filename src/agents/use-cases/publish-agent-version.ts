import type { AuditLog } from '../../audit/index.js';
import { ValidationError } from '../../common/errors/domain-error.js';
import { AgentStateError } from '../agent-errors.js';
import type { AgentVersionEntity } from '../agent-version.entity.js';
import type { AgentRepository } from '../agent.repository.js';
import type { CheckPublishable } from '../config/check-publishable.js';
import { secretFields, type SecretFinder } from '../config/secret-fields.js';
import type { RequestedBy } from '../requested-by.js';
import { auditedVersion } from '../version-audit.js';

/** Makes a draft the version that callers get (agent-runtime-protocol.md §6). It never changes from then on. */
export class PublishAgentVersion {
  constructor(
    private readonly agents: AgentRepository,
    private readonly check: CheckPublishable,
    private readonly audit: AuditLog,
    private readonly secrets: SecretFinder,
  ) {}

  /**
   * Throws ValidationError with a field for each problem of the version, AgentStateError when it is published
   * already, when the agent is archived, or when another publish won.
   */
  async execute(
    agentKey: string,
    version: number,
    reason: string,
    by: RequestedBy,
  ): Promise<AgentVersionEntity> {
    const agent = await this.agents.findLiving(agentKey);
    const draft = await this.agents.findVersion(agentKey, version);
    if (draft.status === 'PUBLISHED')
      throw new AgentStateError(agentKey, `version ${version} is published already`);
    const problems = [
      ...(await this.check.execute(agentKey, draft.config)),
      ...secretFields('config', draft.config, this.secrets),
      ...secretFields('reason', reason, this.secrets),
    ];
    if (problems.length > 0) throw ValidationError.ofFields(problems);
    const at = new Date();
    const published: AgentVersionEntity = {
      ...draft,
      status: 'PUBLISHED',
      publishedAt: at,
      publishedBy: by.actor.name,
      publishReason: reason,
    };
    await this.agents.transaction(async (manager) => {
      await this.agents.change(agent, { currentVersion: version }, at, manager);
      if (!(await this.agents.markPublished(draft, { by: by.actor.name, reason, at }, manager))) {
        throw new AgentStateError(agentKey, `version ${version} is published already`);
      }
      await this.audit.append(manager, {
        ...by,
        action: 'agent.published',
        subject: { type: 'agent', id: agentKey },
        reason,
        before: { currentVersion: agent.currentVersion, status: 'DRAFT' },
        after: { currentVersion: version, ...auditedVersion(published) },
      });
    });
    return published;
  }
}
