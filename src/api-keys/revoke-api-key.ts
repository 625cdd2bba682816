import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import { AuditLog, type AuditEntry } from '../audit/index.js';
import { ApiKeyNotFoundError } from './api-key-errors.js';
import { ApiKeyRepository } from './api-key.repository.js';

/** Ends an API key at once, in every process. Its hash stays, so that nobody gets the same key again. */
@Injectable()
export class RevokeApiKey {
  constructor(
    private readonly repository: ApiKeyRepository,
    private readonly audit: AuditLog,
  ) {}

  /** Throws ApiKeyNotFoundError, also for a key of the configuration. */
  async execute(id: string, by: Pick<AuditEntry, 'actor' | 'correlationId'>): Promise<void> {
    const key = z.uuid().safeParse(id).success ? await this.repository.find(id) : null;
    if (!key) throw new ApiKeyNotFoundError(id);
    const revokedAt = new Date();
    await this.repository.transaction(async (manager) => {
      if (!(await this.repository.revoke(id, revokedAt, manager))) throw new ApiKeyNotFoundError(id);
      await this.audit.append(manager, {
        ...by,
        action: 'api-key.revoked',
        subject: { type: 'api-key', id },
        before: { name: key.name },
        after: { name: key.name, revokedAt: revokedAt.toISOString() },
      });
    });
  }
}
