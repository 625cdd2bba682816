import { Module } from '@nestjs/common';
import { AuditModule } from '../audit/index.js';
import { ApiKeyRepository } from './api-key.repository.js';
import { ApiKeys } from './api-keys.js';
import { CreateApiKey } from './create-api-key.js';
import { RevokeApiKey } from './revoke-api-key.js';

/** Keys of `/api/v1`: who presents one, and their making and ending. Needs DataSource, APP_CONFIG, SecretReader. */
@Module({
  imports: [AuditModule],
  providers: [ApiKeyRepository, ApiKeys, CreateApiKey, RevokeApiKey],
  exports: [ApiKeyRepository, ApiKeys, CreateApiKey, RevokeApiKey],
})
export class ApiKeysModule {}
