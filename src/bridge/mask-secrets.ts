import { orderedObject } from '../common/json/ordered-object.js';

/** The only form in which a secret may be shown (internal-context-query.md §9.1). */
export function masked(secret: string): string {
  return `${secret.slice(0, 4)}***`;
}

/** Replaces every occurrence of the secrets in a text. Shorter ones than 8 characters would hit ordinary words. */
export function maskSecrets(text: string, secrets: readonly string[]): string {
  let shown = text;
  for (const secret of secrets) {
    if (secret.length >= 8) shown = shown.replaceAll(secret, masked(secret));
  }
  return shown;
}

/** The same for every string and key inside a JSON value. Bounded by the depth JSON.parse itself allows. */
export function maskSecretsIn(value: unknown, secrets: readonly string[]): unknown {
  if (typeof value === 'string') return maskSecrets(value, secrets);
  if (Array.isArray(value)) return value.map((item) => maskSecretsIn(item, secrets));
  if (typeof value === 'object' && value !== null) {
    return orderedObject(
      Object.entries(value).map(
        ([key, item]) => [maskSecrets(key, secrets), maskSecretsIn(item, secrets)] as const,
      ),
    );
  }
  return value;
}
