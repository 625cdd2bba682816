import type { FieldError } from '../../common/errors/domain-error.js';

/** Knows the live secrets; SecretRedactor of credentials does. */
export interface SecretFinder {
  holdsSecret(text: string): boolean;
}

/** The places in a value where somebody has written a configured secret instead of its reference (decision 5). */
export function secretFields(field: string, value: unknown, secrets: SecretFinder): FieldError[] {
  if (typeof value === 'string') return secrets.holdsSecret(value) ? [refused(field)] : [];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    // The key itself is not named: it is the secret.
    secrets.holdsSecret(key) ? [refused(field)] : secretFields(`${field}.${key}`, inner, secrets),
  );
}

function refused(field: string): FieldError {
  return { field, message: 'holds the value of a configured secret, which is never stored' };
}
