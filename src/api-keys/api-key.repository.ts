import { Injectable } from '@nestjs/common';
import { DataSource, IsNull, type EntityManager } from 'typeorm';
import { ApiKeyEntity } from './api-key.entity.js';

/** Stored API keys. */
@Injectable()
export class ApiKeyRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** Also a revoked or expired one. `sha256` is lower-case hex. */
  findByHash(sha256: string): Promise<ApiKeyEntity | null> {
    return this.dataSource.getRepository(ApiKeyEntity).findOneBy({ keyHash: sha256 });
  }

  find(id: string): Promise<ApiKeyEntity | null> {
    return this.dataSource.getRepository(ApiKeyEntity).findOneBy({ id });
  }

  /** Those not revoked, newest first, after the one with the id `after`. */
  async list({ after, limit }: { after?: string; limit: number }): Promise<ApiKeyEntity[]> {
    const query = this.dataSource
      .getRepository(ApiKeyEntity)
      .createQueryBuilder('key')
      .where('key.revokedAt IS NULL')
      .orderBy('key.createdAt', 'DESC')
      .addOrderBy('key.id', 'DESC')
      .limit(limit);
    if (after !== undefined) {
      // The row stays when it is revoked, so a cursor never points to nothing.
      query.andWhere(
        '(key.createdAt, key.id) < (SELECT last.created_at, last.id FROM api_keys last WHERE last.id = :after)',
        { after },
      );
    }
    return query.getMany();
  }

  transaction<T>(work: (manager: EntityManager) => Promise<T>): Promise<T> {
    return this.dataSource.transaction(work);
  }

  /** False when the name (of a living key) or the key itself is taken. */
  async insert(key: ApiKeyEntity, manager: EntityManager): Promise<boolean> {
    const inserted = await manager
      .createQueryBuilder()
      .insert()
      .into(ApiKeyEntity)
      .values(key)
      .orIgnore()
      .returning('id')
      .execute();
    return (inserted.raw as unknown[]).length === 1;
  }

  /** False when there is no such living key. */
  async revoke(id: string, at: Date, manager: EntityManager): Promise<boolean> {
    const { affected } = await manager
      .getRepository(ApiKeyEntity)
      .update({ id, revokedAt: IsNull() }, { revokedAt: at });
    return affected === 1;
  }

  /** Writes nothing when another process has just done so. */
  async markUsed(id: string, at: Date, notSince: Date): Promise<void> {
    await this.dataSource.query(
      `UPDATE api_keys SET last_used_at = $2 WHERE id = $1 AND (last_used_at IS NULL OR last_used_at < $3)`,
      [id, at, notSince],
    );
  }
}
