import { Inject, Injectable, Logger } from '@nestjs/common';
import { APP_CONFIG, type ApiKeyConfig, type AppConfig } from '../config/app-config.js';
import { SecretReader } from '../config/secret-reader.js';
import type { ApiKeyEntity } from './api-key.entity.js';
import type { ApiKeyIdentity } from './api-key-identity.js';
import { ApiKeyRepository } from './api-key.repository.js';
import { configuredKeys } from './configured-keys.js';
import { findByDigest, keyDigest } from './key-digest.js';

/** A key's last use is written at most that often. */
const LAST_USE_MILLIS = 60_000;
/** A longer key is refused without a look. */
const MAX_KEY_LENGTH = 512;

/** Tells who presents an API key: one of the configuration or one made through the admin API. */
@Injectable()
export class ApiKeys {
  readonly #log = new Logger(ApiKeys.name);
  readonly #lastUse = new Map<string, number>();
  readonly #reported = new Set<string>();
  #failedAttempts = 0;

  constructor(
    @Inject(APP_CONFIG) private readonly config: AppConfig,
    private readonly secrets: SecretReader,
    private readonly stored: ApiKeyRepository,
  ) {}

  /** Presented keys that this process has refused since its start. */
  get failedAttempts(): number {
    return this.#failedAttempts;
  }

  /** Null for a missing, unknown, expired or revoked key; which of them it is stays untold. */
  async authenticate(presentedKey: string | undefined, now = new Date()): Promise<ApiKeyIdentity | null> {
    const identity = await this.#identify(presentedKey, now);
    if (!identity) this.#failedAttempts += 1;
    return identity;
  }

  /** Whether the configuration has a key of that name. */
  isConfiguredName(name: string): boolean {
    return this.config.externalApi.keys.some((key) => key.name === name);
  }

  /** Whether the configuration has that key. */
  isConfiguredKey(key: string): boolean {
    return findByDigest(this.#configured(), keyDigest(key)) !== undefined;
  }

  async #identify(presentedKey: string | undefined, now: Date): Promise<ApiKeyIdentity | null> {
    if (!presentedKey || presentedKey.length > MAX_KEY_LENGTH) return null;
    const digest = keyDigest(presentedKey);
    const configured = findByDigest(this.#configured(), digest);
    if (configured) return isExpired(configured.entry.expiresAt, now) ? null : ofConfig(configured.entry);
    // A look-up by a digest tells nothing about the keys that there are.
    const stored = await this.stored.findByHash(digest.toString('hex'));
    if (!stored || stored.revokedAt || isExpired(stored.expiresAt, now)) return null;
    await this.#rememberUse(stored.id, now);
    return ofEntity(stored);
  }

  #configured() {
    return configuredKeys(this.config.externalApi.keys, this.secrets, 'external-api.keys', (error) => {
      if (this.#reported.has(error.message)) return;
      this.#reported.add(error.message);
      this.#log.error(`a configured API key is unusable: ${error.message}`);
    });
  }

  async #rememberUse(id: string, now: Date): Promise<void> {
    const last = this.#lastUse.get(id) ?? 0;
    const notSince = now.getTime() - LAST_USE_MILLIS;
    if (last > notSince) return;
    this.#lastUse.set(id, now.getTime());
    try {
      await this.stored.markUsed(id, now, new Date(notSince));
    } catch (error) {
      // The caller's request is worth more than the time of its key's last use; the next one writes it.
      this.#lastUse.delete(id);
      this.#log.warn(`the last use of API key ${id} was not written: ${String(error)}`);
    }
  }
}

function isExpired(expiresAt: Date | string | null | undefined, now: Date): boolean {
  return expiresAt != null && new Date(expiresAt).getTime() <= now.getTime();
}

function ofConfig(key: ApiKeyConfig): ApiKeyIdentity {
  return {
    name: key.name,
    id: null,
    workflowNames: key.workflowNames,
    workflowIds: key.workflowIds,
    requestsPerMinute: key.requestsPerMinute ?? null,
    maxConcurrentRuns: key.maxConcurrentRuns ?? null,
  };
}

function ofEntity(key: ApiKeyEntity): ApiKeyIdentity {
  const { id, name, workflowNames, workflowIds, requestsPerMinute, maxConcurrentRuns } = key;
  return { id, name, workflowNames, workflowIds, requestsPerMinute, maxConcurrentRuns };
}
