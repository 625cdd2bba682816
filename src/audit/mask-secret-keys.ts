import type { JsonValue } from '../common/json/json-value.js';

const MASK = '[redacted]';

/** Names of keys whose value is a secret; names that end in `Ref`, `Env` or `File` only point to one. */
const SECRET_NAME =
  /^(authorization|cookie|set-cookie|(.*[-_]|.*[a-z])?(api[-_]?key|secret|token|password|passwd|credential)|key|private[-_]?key)$/i;

/** Masks what stands under a key that names a secret. Values known to be secrets are the redactor's to find. */
export function maskSecretKeys(value: JsonValue): JsonValue {
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map(maskSecretKeys);
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key,
      SECRET_NAME.test(key) && typeof inner === 'string' ? MASK : maskSecretKeys(inner),
    ]),
  );
}
