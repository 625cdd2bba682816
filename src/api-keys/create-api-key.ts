import { randomBytes, randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import { AuditLog, type AuditEntry } from '../audit/index.js';
import { ApiKeyEntity } from './api-key.entity.js';
import { ApiKeyTakenError } from './api-key-errors.js';
import { ApiKeyRepository } from './api-key.repository.js';
import { ApiKeys } from './api-keys.js';
import { keyDigest } from './key-digest.js';

const scopeLimit = 1000;

/** Body of `POST /admin/v1/api-keys` (contract.md, "Details of /api/v1"). */
export const newApiKeySchema = z.strictObject({
  name: z
    .string()
    .min(1)
    .max(100)
    .regex(/^[^\p{Cc}\p{Cs}]+$/u, 'must not hold control characters'),
  /** Left out: 256 random bits. */
  key: z
    .string()
    .min(8)
    .max(200)
    .regex(/^[\x21-\x7e]+$/, 'must be visible ASCII without spaces, as a header carries it')
    .optional(),
  workflowNames: z.array(z.string().min(1).max(64)).max(scopeLimit).default([]),
  workflowIds: z.array(z.number().int().positive()).max(scopeLimit).default([]),
  expiresAt: z.iso.datetime({ offset: true }).nullish(),
  requestsPerMinute: z.number().int().min(1).max(1_000_000).nullish(),
  maxConcurrentRuns: z.number().int().min(1).max(1_000_000).nullish(),
});
export type NewApiKey = z.input<typeof newApiKeySchema>;

/** Makes an API key. The key itself is in the answer and nowhere else. */
@Injectable()
export class CreateApiKey {
  constructor(
    private readonly repository: ApiKeyRepository,
    private readonly apiKeys: ApiKeys,
    private readonly audit: AuditLog,
  ) {}

  /** Throws ApiKeyTakenError. */
  async execute(
    body: NewApiKey,
    by: Pick<AuditEntry, 'actor' | 'correlationId'>,
  ): Promise<{ entity: ApiKeyEntity; key: string }> {
    const { expiresAt, ...wanted } = newApiKeySchema.parse(body);
    const key = wanted.key ?? `am_${randomBytes(32).toString('base64url')}`;
    if (this.apiKeys.isConfiguredName(wanted.name) || this.apiKeys.isConfiguredKey(key)) {
      throw new ApiKeyTakenError(wanted.name);
    }
    const entity = Object.assign(new ApiKeyEntity(), {
      id: randomUUID(),
      name: wanted.name,
      keyHash: keyDigest(key).toString('hex'),
      workflowNames: wanted.workflowNames,
      workflowIds: wanted.workflowIds,
      requestsPerMinute: wanted.requestsPerMinute ?? null,
      maxConcurrentRuns: wanted.maxConcurrentRuns ?? null,
      expiresAt: expiresAt ? new Date(expiresAt) : null,
      createdBy: by.actor.name,
      createdAt: new Date(),
      lastUsedAt: null,
      revokedAt: null,
    });
    await this.repository.transaction(async (manager) => {
      if (!(await this.repository.insert(entity, manager))) throw new ApiKeyTakenError(wanted.name);
      const { name, workflowNames, workflowIds, requestsPerMinute, maxConcurrentRuns } = entity;
      const limits = { requestsPerMinute, maxConcurrentRuns, expiresAt: expiresAt ?? null };
      await this.audit.append(manager, {
        ...by,
        action: 'api-key.created',
        subject: { type: 'api-key', id: entity.id },
        before: null,
        after: { name, workflowNames, workflowIds, ...limits },
      });
    });
    return { entity, key };
  }
}
