import type { AuditLog } from '../../audit/index.js';
import { ValidationError } from '../../common/errors/domain-error.js';
import { AgentNotFoundError } from '../agent-errors.js';
import type { AgentSlotEntity } from '../agent-slot.entity.js';
import { isSlotKey, type AgentRepository } from '../agent.repository.js';
import type { RequestedBy } from '../requested-by.js';

/** Decides which agent a slot stands for. */
export class BindSlot {
  constructor(
    private readonly agents: AgentRepository,
    private readonly audit: AuditLog,
  ) {}

  /** Throws ValidationError for a bad slot key or an agent that is not there, AgentStateError for an archived one. */
  async execute(slotKey: string, agentKey: string, by: RequestedBy): Promise<AgentSlotEntity> {
    if (!isSlotKey(slotKey)) {
      const message = 'must be 1 to 64 of A-Z, a-z, 0-9, dot, hyphen and underscore';
      throw ValidationError.ofFields([{ field: 'slotKey', message }]);
    }
    const slot = { slotKey, agentKey, updatedAt: new Date() };
    await this.agents.transaction(async (manager) => {
      await this.agents.lockLiving(agentKey, manager).catch(asFieldError);
      const before = await this.agents.bindSlot(slot, manager);
      await this.audit.append(manager, {
        ...by,
        action: 'slot.bound',
        subject: { type: 'slot', id: slotKey },
        before: before === null ? null : { agentKey: before },
        after: { agentKey },
      });
    });
    return slot;
  }
}

function asFieldError(error: unknown): never {
  if (!(error instanceof AgentNotFoundError)) throw error;
  throw ValidationError.ofFields([{ field: 'agentKey', message: `there is no agent ${error.agentKey}` }]);
}
