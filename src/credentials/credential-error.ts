/**
 * Thrown when a credential may not or cannot be used; nothing has been sent. The message names the configuration
 * key to fix and never holds a value.
 */
export class CredentialError extends Error {
  constructor(
    readonly reason: 'unknown' | 'wrong_provider' | 'out_of_scope' | 'no_value' | 'no_base_url',
    /** The configuration key, such as `credentials.dify-prod.env`. */
    readonly key: string,
    why: string,
    options?: ErrorOptions,
  ) {
    super(`${key}: ${why}`, options);
    this.name = 'CredentialError';
  }
}
