import { Body, Controller, Delete, Get, Param, Post, Query, UseGuards } from '@nestjs/common';
import { z } from 'zod';
import {
  ApiKeyRepository,
  CreateApiKey,
  RevokeApiKey,
  newApiKeySchema,
  type ApiKeyEntity,
} from '../../api-keys/index.js';
import { ok, ZodPipe, type Envelope } from '../../common/http/index.js';
import { Describe } from '../../common/openapi/index.js';
import type { AuditEntry } from '../../audit/index.js';
import { AdminKeyGuard, ChangedBy, Roles } from '../auth/index.js';
import { adminList, type AdminList } from '../lists/admin-list.js';
import { decodeCursor, encodeCursor } from '../lists/cursor.js';
import { listQuery } from '../lists/list-query.js';
import { createApiKey, listApiKeys, revokeApiKey } from '../openapi/operator-operations.js';

type Change = Pick<AuditEntry, 'actor' | 'correlationId'>;
type ApiKeyView = Omit<ApiKeyEntity, 'keyHash' | 'revokedAt'>;

/** `/admin/v1/api-keys`: keys of `/api/v1` beside those of the configuration. */
@Controller('admin/v1/api-keys')
@UseGuards(AdminKeyGuard)
export class ApiKeysController {
  constructor(
    private readonly apiKeys: ApiKeyRepository,
    private readonly createApiKey: CreateApiKey,
    private readonly revokeApiKey: RevokeApiKey,
  ) {}

  /** The only answer that ever holds the key. */
  @Describe(createApiKey)
  @Post()
  async create(
    @Body(new ZodPipe(newApiKeySchema)) body: z.infer<typeof newApiKeySchema>,
    @ChangedBy() by: Change,
  ): Promise<Envelope<ApiKeyView & { key: string }>> {
    const { entity, key } = await this.createApiKey.execute(body, by);
    return ok({ ...apiKeyView(entity), key });
  }

  @Describe(listApiKeys)
  @Get()
  @Roles('viewer', 'auditor')
  async list(
    @Query(new ZodPipe(listQuery)) { cursor, limit }: z.infer<typeof listQuery>,
  ): Promise<Envelope<AdminList<ApiKeyView>>> {
    const after = cursor === undefined ? undefined : decodeCursor(z.uuid(), cursor);
    const found = await this.apiKeys.list({ after, limit: limit + 1 });
    return ok(adminList(found, limit, apiKeyView, ({ id }) => encodeCursor(id)));
  }

  @Describe(revokeApiKey)
  @Delete(':id')
  async revoke(@Param('id') id: string, @ChangedBy() by: Change): Promise<Envelope<{ id: string }>> {
    await this.revokeApiKey.execute(id, by);
    return ok({ id });
  }
}

function apiKeyView(key: ApiKeyEntity): ApiKeyView {
  return {
    id: key.id,
    name: key.name,
    workflowNames: key.workflowNames,
    workflowIds: key.workflowIds,
    requestsPerMinute: key.requestsPerMinute,
    maxConcurrentRuns: key.maxConcurrentRuns,
    expiresAt: key.expiresAt,
    createdBy: key.createdBy,
    createdAt: key.createdAt,
    lastUsedAt: key.lastUsedAt,
  };
}
