import { Inject, Injectable, Logger } from '@nestjs/common';
import { configuredKeys, findByDigest, keyDigest } from '../../api-keys/index.js';
import { APP_CONFIG, type AppConfig } from '../../config/app-config.js';
import { SecretReader } from '../../config/secret-reader.js';
import type { AdminIdentity } from './admin-identity.js';

/** A longer key is refused without a look. */
const MAX_KEY_LENGTH = 512;

/** Tells who presents an admin key. They come from the configuration only. */
@Injectable()
export class AdminKeys {
  readonly #log = new Logger(AdminKeys.name);
  readonly #reported = new Set<string>();
  #failedAttempts = 0;

  constructor(
    @Inject(APP_CONFIG) private readonly config: AppConfig,
    private readonly secrets: SecretReader,
  ) {}

  /** Presented keys that this process has refused since its start. */
  get failedAttempts(): number {
    return this.#failedAttempts;
  }

  /** Null for a missing or unknown key. Compares digests of all keys in constant time. */
  authenticate(presentedKey: string | undefined): AdminIdentity | null {
    const found =
      presentedKey && presentedKey.length <= MAX_KEY_LENGTH
        ? findByDigest(this.#keys(), keyDigest(presentedKey))
        : undefined;
    if (!found) {
      this.#failedAttempts += 1;
      return null;
    }
    return { name: found.entry.name, roles: found.entry.roles };
  }

  #keys() {
    return configuredKeys(this.config.admin.apiKeys, this.secrets, 'admin.api-keys', (error) => {
      if (this.#reported.has(error.message)) return;
      this.#reported.add(error.message);
      this.#log.error(`a configured admin key is unusable: ${error.message}`);
    });
  }
}
