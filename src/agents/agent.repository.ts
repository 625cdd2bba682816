import { LessThan, type DataSource, type EntityManager } from 'typeorm';
import { AgentSlotEntity } from './agent-slot.entity.js';
import { AgentVersionEntity } from './agent-version.entity.js';
import { AgentNotFoundError, AgentStateError, AgentVersionNotFoundError } from './agent-errors.js';
import { AgentEntity } from './agent.entity.js';

/** Reads and writes agents, their versions and slots. The rules are the use cases'. */
export class AgentRepository {
  constructor(private readonly dataSource: DataSource) {}

  transaction<T>(work: (manager: EntityManager) => Promise<T>): Promise<T> {
    return this.dataSource.transaction(work);
  }

  /** Also an archived one. Throws AgentNotFoundError. */
  async find(agentKey: string, manager = this.dataSource.manager): Promise<AgentEntity> {
    const agent = isKey(agentKey) ? await manager.findOneBy(AgentEntity, { agentKey }) : null;
    if (!agent) throw new AgentNotFoundError(agentKey);
    return agent;
  }

  /** Throws AgentNotFoundError, and AgentStateError for an archived one. */
  async findLiving(agentKey: string, manager?: EntityManager): Promise<AgentEntity> {
    return living(await this.find(agentKey, manager));
  }

  /** The same, locked until the transaction ends. */
  async lockLiving(agentKey: string, manager: EntityManager): Promise<AgentEntity> {
    const lock = { mode: 'pessimistic_write' } as const;
    const agent = isKey(agentKey) ? await manager.findOne(AgentEntity, { where: { agentKey }, lock }) : null;
    if (!agent) throw new AgentNotFoundError(agentKey);
    return living(agent);
  }

  /** False when the key is taken. */
  async insert(agent: AgentEntity, manager: EntityManager): Promise<boolean> {
    const rows = await manager.query<unknown[]>(
      `INSERT INTO agents (agent_key, display_name, description, created_at, updated_at)
       VALUES ($1, $2, $3, $4, $4) ON CONFLICT DO NOTHING RETURNING agent_key`,
      [agent.agentKey, JSON.stringify(agent.displayName), JSON.stringify(agent.description), agent.createdAt],
    );
    return rows.length === 1;
  }

  /**
   * Changes an agent that nobody has changed since it was read. Throws AgentStateError otherwise: of two publishes
   * at once, the other one.
   */
  async change(
    agent: AgentEntity,
    changes: Partial<Pick<AgentEntity, 'currentVersion' | 'archivedAt'>>,
    at: Date,
    manager: EntityManager,
  ): Promise<void> {
    const { agentKey, revision } = agent;
    const { affected } = await manager.update(
      AgentEntity,
      { agentKey, revision },
      { ...changes, revision: revision + 1, updatedAt: at },
    );
    if (affected !== 1) throw new AgentStateError(agentKey, 'somebody else has changed it at the same time');
  }

  async findVersion(
    agentKey: string,
    version: number,
    manager = this.dataSource.manager,
  ): Promise<AgentVersionEntity> {
    const mayExist = isKey(agentKey) && Number.isInteger(version) && version >= 1 && version < 2 ** 31;
    const found = mayExist ? await manager.findOneBy(AgentVersionEntity, { agentKey, version }) : null;
    if (!found) throw new AgentVersionNotFoundError(agentKey, version);
    return found;
  }

  /** Newest first; those below `before`. */
  listVersions(
    agentKey: string,
    { before, limit }: { before?: number; limit: number },
  ): Promise<AgentVersionEntity[]> {
    return this.dataSource.manager.find(AgentVersionEntity, {
      where: { agentKey, ...(before === undefined ? {} : { version: LessThan(before) }) },
      order: { version: 'DESC' },
      take: limit,
    });
  }

  /** Gives the draft the agent's next number; the agent must be locked. */
  async insertDraft(
    agent: AgentEntity,
    draft: Pick<AgentVersionEntity, 'config' | 'copiedFrom' | 'createdAt' | 'createdBy'>,
    manager: EntityManager,
  ): Promise<AgentVersionEntity> {
    const { agentKey } = agent;
    const version = agent.lastVersion + 1;
    await manager.update(AgentEntity, { agentKey }, { lastVersion: version, updatedAt: draft.createdAt });
    const made: AgentVersionEntity = {
      ...draft,
      agentKey,
      version,
      status: 'DRAFT',
      publishedAt: null,
      publishedBy: null,
      publishReason: null,
    };
    await manager.query(
      `INSERT INTO agent_versions (agent_key, version, status, config, copied_from, created_at, created_by)
       VALUES ($1, $2, 'DRAFT', $3, $4, $5, $6)`,
      [
        agentKey,
        version,
        JSON.stringify(draft.config),
        draft.copiedFrom,
        draft.createdAt,
        JSON.stringify(draft.createdBy),
      ],
    );
    return made;
  }

  /** False where the version is no draft any more. */
  async markPublished(
    { agentKey, version }: Pick<AgentVersionEntity, 'agentKey' | 'version'>,
    { by, reason, at }: { by: string; reason: string; at: Date },
    manager: EntityManager,
  ): Promise<boolean> {
    const [rows] = await manager.query<[unknown[], number]>(
      `UPDATE agent_versions SET status = 'PUBLISHED', published_at = $3, published_by = $4, publish_reason = $5
        WHERE agent_key = $1 AND version = $2 AND status = 'DRAFT' RETURNING version`,
      [agentKey, version, at, JSON.stringify(by), JSON.stringify(reason)],
    );
    return rows.length === 1;
  }

  async findSlot(slotKey: string): Promise<AgentSlotEntity | null> {
    return isSlotKey(slotKey) ? this.dataSource.manager.findOneBy(AgentSlotEntity, { slotKey }) : null;
  }

  listSlots({ after, limit }: { after?: string; limit: number }): Promise<AgentSlotEntity[]> {
    return this.dataSource.query<AgentSlotEntity[]>(
      `SELECT slot_key AS "slotKey", agent_key AS "agentKey", updated_at AS "updatedAt" FROM agent_slots
        WHERE $1::text IS NULL OR slot_key > $1 ORDER BY slot_key LIMIT $2`,
      [after ?? null, limit],
    );
  }

  slotsOf(agentKey: string, manager: EntityManager): Promise<AgentSlotEntity[]> {
    return manager.findBy(AgentSlotEntity, { agentKey });
  }

  /** Returns the agent it was bound to before, null for a new slot. */
  async bindSlot(slot: AgentSlotEntity, manager: EntityManager): Promise<string | null> {
    const { slotKey } = slot;
    // Inserted first: a slot that is not there yet could not be locked, and two that bind it would see no former one.
    const made = await manager.query<unknown[]>(
      `INSERT INTO agent_slots (slot_key, agent_key, updated_at) VALUES ($1, $2, $3)
       ON CONFLICT (slot_key) DO NOTHING RETURNING slot_key`,
      [slotKey, slot.agentKey, slot.updatedAt],
    );
    if (made.length === 1) return null;
    const lock = { mode: 'pessimistic_write' } as const;
    const before = await manager.findOneOrFail(AgentSlotEntity, { where: { slotKey }, lock });
    await manager.update(AgentSlotEntity, { slotKey }, slot);
    return before.agentKey;
  }
}

function living(agent: AgentEntity): AgentEntity {
  if (agent.archivedAt) throw new AgentStateError(agent.agentKey, 'it is archived');
  return agent;
}

/** Anything else, U+0000 for one, is no key and never reaches the database. */
function isKey(text: string): boolean {
  return /^[a-z0-9-]{1,64}$/.test(text);
}

export function isSlotKey(text: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(text);
}
