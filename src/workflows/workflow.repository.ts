import { Injectable } from '@nestjs/common';
import { DataSource, In, IsNull, LessThan, type EntityManager } from 'typeorm';
import { LruCache } from '../common/cache/lru-cache.js';
import { deepFreeze } from './deep-freeze.js';
import type { GraphData, WorkflowMode, WorkflowSettings } from './graph/graph-data.js';
import type { WorkflowDefinition } from './workflow-definition.js';
import { workflowIdOf } from './workflow-id.js';
import { WorkflowLookups } from './workflow-lookups.js';
import { WorkflowVersionEntity } from './workflow-version.entity.js';
import { WorkflowEntity } from './workflow.entity.js';

/** Nodes and edges of versions kept in memory: they never change. */
const CACHED_ELEMENTS = 100_000;

type VersionContent = Pick<WorkflowVersionEntity, 'mode' | 'graphData' | 'settings' | 'createdAt'>;

export interface VersionSummary {
  version: number;
  mode: WorkflowMode;
  createdAt: Date;
}

/** Reads and writes workflows and their versions. The rules are the use cases'. */
@Injectable()
export class WorkflowRepository {
  readonly #versions = new LruCache<string, VersionContent>(CACHED_ELEMENTS);

  readonly #lookups: WorkflowLookups;

  constructor(private readonly dataSource: DataSource) {
    this.#lookups = new WorkflowLookups(dataSource);
  }

  /** Its current version, by name, or by id where no name matches and it is digits only (decision 9). */
  async findByNameOrId(nameOrId: string): Promise<WorkflowDefinition | null> {
    const row = await this.findRow(nameOrId);
    return row && this.#withVersion(row, row.currentVersion);
  }

  /** The current version of a living workflow, by its id alone: a name may be made of the same digits. */
  async findCurrent(workflowId: string | number): Promise<WorkflowDefinition | null> {
    const id = workflowIdOf(String(workflowId));
    const row = id === null ? null : await this.#workflows().findOneBy({ id, deletedAt: IsNull() });
    return row && this.#withVersion(row, row.currentVersion);
  }

  /** Any version, also of a deleted workflow: its runs go on. `workflowId` is decimal digits. */
  async findVersion(workflowId: string | number, version: number): Promise<WorkflowDefinition | null> {
    const id = workflowIdOf(String(workflowId));
    if (id === null || !Number.isSafeInteger(version) || version < 1 || version > 2 ** 31 - 1) return null;
    const row = await this.#workflows().findOneBy({ id });
    return row && this.#withVersion(row, version);
  }

  /** The living workflow's row, without its graph. */
  async findRow(nameOrId: string, manager?: EntityManager): Promise<WorkflowEntity | null> {
    if (!isNameOrId(nameOrId)) return null;
    if (!manager) return this.#lookups.find(nameOrId);
    const named = await this.#workflows(manager).findOneBy({ name: nameOrId, deletedAt: IsNull() });
    if (named) return named;
    const id = workflowIdOf(nameOrId);
    return id === null ? null : this.#workflows(manager).findOneBy({ id, deletedAt: IsNull() });
  }

  /** Whether a living workflow has the name. */
  hasName(name: string): Promise<boolean> {
    return this.#workflows().existsBy({ name, deletedAt: IsNull() });
  }

  /** Names by id, of deleted workflows too. */
  async names(ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const rows = await this.#workflows().find({
      select: { id: true, name: true },
      where: { id: In([...new Set(ids)]) },
    });
    return new Map(rows.map(({ id, name }) => [id, name]));
  }

  /** Current versions of the living, newest workflow first; those with an id below `before`. */
  async list({ before, limit }: { before?: string; limit: number }): Promise<WorkflowDefinition[]> {
    const rows = await this.listRows({ before, limit });
    const found = await Promise.all(rows.map((row) => this.#withVersion(row, row.currentVersion)));
    return found.filter((definition) => definition !== null);
  }

  /** The same without the graphs. */
  listRows({ before, limit }: { before?: string; limit: number }): Promise<WorkflowEntity[]> {
    return this.#workflows().find({
      where: { deletedAt: IsNull(), ...(before === undefined ? {} : { id: LessThan(before) }) },
      order: { id: 'DESC' },
      take: limit,
    });
  }

  /** Newest first; those below `before`. */
  async listVersions(
    workflowId: string,
    { before, limit }: { before?: number; limit: number },
  ): Promise<VersionSummary[]> {
    return this.dataSource.getRepository(WorkflowVersionEntity).find({
      select: { version: true, mode: true, createdAt: true },
      where: { workflowId, ...(before === undefined ? {} : { version: LessThan(before) }) },
      order: { version: 'DESC' },
      take: limit,
    });
  }

  /** Locks a workflow's row until the transaction ends, so that its changes come one after the other. */
  lock(id: string, manager: EntityManager): Promise<WorkflowEntity | null> {
    return manager.getRepository(WorkflowEntity).findOne({
      where: { id, deletedAt: IsNull() },
      lock: { mode: 'pessimistic_write' },
    });
  }

  transaction<T>(work: (manager: EntityManager) => Promise<T>): Promise<T> {
    return this.dataSource.transaction(work);
  }

  /** Null when a living workflow has the name. */
  async insertRow(row: Omit<WorkflowEntity, 'id'>, manager: EntityManager): Promise<WorkflowEntity | null> {
    const inserted = await manager
      .createQueryBuilder()
      .insert()
      .into(WorkflowEntity)
      .values(row)
      .orIgnore()
      .returning('id')
      .execute();
    const [made] = inserted.raw as { id: string }[];
    return made ? Object.assign(new WorkflowEntity(), row, { id: made.id }) : null;
  }

  async updateRow(row: WorkflowEntity, manager: EntityManager): Promise<void> {
    const { id, ...columns } = row;
    await manager.getRepository(WorkflowEntity).update({ id }, columns);
  }

  /** False when it is gone already. */
  async markDeleted(id: string, at: Date, manager: EntityManager): Promise<boolean> {
    const { affected } = await this.#workflows(manager).update(
      { id, deletedAt: IsNull() },
      { deletedAt: at },
    );
    return affected === 1;
  }

  async insertVersion(
    version: { workflowId: string; version: number; createdAt: Date } & DefinitionContent,
    manager: EntityManager,
  ): Promise<void> {
    await manager.query(
      `INSERT INTO workflow_versions (workflow_id, version, mode, graph_data, settings, created_at)
       VALUES ($1, $2, $3, $4, $5, $6)`,
      [
        version.workflowId,
        version.version,
        version.mode,
        JSON.stringify(version.graphData),
        JSON.stringify(version.settings),
        version.createdAt,
      ],
    );
  }

  async #withVersion(row: WorkflowEntity, version: number): Promise<WorkflowDefinition | null> {
    const content = await this.#content(row.id, version);
    if (!content) return null;
    return {
      workflowId: Number(row.id),
      name: row.name,
      displayName: row.displayName,
      description: row.description,
      version,
      mode: content.mode,
      graphData: content.graphData,
      settings: content.settings,
      createdAt: row.createdAt,
      updatedAt: row.updatedAt,
    };
  }

  async #content(workflowId: string, version: number): Promise<VersionContent | null> {
    const key = `${workflowId}:${version}`;
    const cached = this.#versions.get(key);
    if (cached) return cached;
    const found = await this.dataSource
      .getRepository(WorkflowVersionEntity)
      .findOneBy({ workflowId, version });
    if (!found) return null;
    const content = deepFreeze<VersionContent>({
      mode: found.mode,
      graphData: found.graphData,
      settings: found.settings,
      createdAt: found.createdAt,
    });
    this.#versions.set(key, content, 1 + found.graphData.nodes.length + found.graphData.edges.length);
    return content;
  }

  #workflows(manager: EntityManager = this.dataSource.manager) {
    return manager.getRepository(WorkflowEntity);
  }
}

interface DefinitionContent {
  mode: WorkflowMode;
  graphData: GraphData;
  settings: WorkflowSettings;
}

/** Anything else, U+0000 for one, is no workflow and never reaches the database. */
function isNameOrId(text: string): boolean {
  return /^[a-z0-9-]{1,64}$/.test(text);
}
