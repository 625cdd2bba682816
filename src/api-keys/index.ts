export { ApiKeyEntity } from './api-key.entity.js';
export { mayUse, type ApiKeyIdentity } from './api-key-identity.js';
export { ApiKeyRepository } from './api-key.repository.js';
export { ApiKeys } from './api-keys.js';
export { ApiKeysModule } from './api-keys.module.js';
export { configuredKeys } from './configured-keys.js';
export { CreateApiKey, newApiKeySchema, type NewApiKey } from './create-api-key.js';
export { findByDigest, keyDigest } from './key-digest.js';
export { RevokeApiKey } from './revoke-api-key.js';
