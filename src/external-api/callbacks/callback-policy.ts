import { Inject, Injectable } from '@nestjs/common';
import { ValidationError } from '../../common/errors/domain-error.js';
import { AddressRefusedError, HostNotFoundError, resolveGuarded } from '../../common/net/index.js';
import { APP_CONFIG, type AppConfig } from '../../config/app-config.js';
import { Credentials } from '../../credentials/index.js';

/** Whether and how callbacks may be sent. */
@Injectable()
export class CallbackPolicy {
  constructor(
    @Inject(APP_CONFIG) private readonly config: AppConfig,
    private readonly credentials: Credentials,
  ) {}

  get allowedHosts(): readonly string[] {
    return this.config.callbacks.allowedHosts;
  }

  /** Throws a ValidationError for a callback that could not be sent: no secret, a bad URL, an internal address. */
  async check(callbackUrl: string): Promise<void> {
    const refuse = (message: string): never => {
      throw ValidationError.ofFields([{ field: 'callbackUrl', message }]);
    };
    if (this.config.callbacks.credentialRef === null) {
      refuse('callbacks are off: callbacks.credential-ref is not set');
    }
    const url = URL.canParse(callbackUrl) ? new URL(callbackUrl) : refuse('is not a URL');
    try {
      await resolveGuarded(url, { allowedHosts: this.allowedHosts });
    } catch (error) {
      if (!(error instanceof AddressRefusedError) && !(error instanceof HostNotFoundError)) throw error;
      refuse(error.message);
    }
  }

  /** The secret that signs callbacks. Throws a CredentialError that names the key to fix. */
  async secret(): Promise<string> {
    const ref = this.config.callbacks.credentialRef ?? '';
    // Any provider will do: the secret is ours, not a provider's.
    const provider = this.config.credentials[ref]?.provider ?? 'callbacks';
    return (await this.credentials.resolve(ref, { provider, agentKey: null })).value;
  }
}
