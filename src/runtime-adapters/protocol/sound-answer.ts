import type { SecretRedactor } from '../../credentials/index.js';
import type { RuntimeUsage } from './agent-runtime-response.js';
import { plainDecimal } from './plain-decimal.js';

/** An id goes into headers, URLs and lists. */
const REQUEST_ID = /^[\x21-\x7e]{1,200}$/;
const CURRENCY = /^[A-Za-z]{1,10}$/;

/**
 * What a provider calls a call, or null where it cannot be an id: too long, not of visible ASCII, or a secret that it
 * repeats to us.
 */
export function soundRequestId(id: string | null, redactor: SecretRedactor): string | null {
  return id !== null && REQUEST_ID.test(id) && !redactor.holdsSecret(id) ? id : null;
}

/**
 * A provider's figures so far as they can be summed up: counts are whole and not negative, a price is a plain decimal
 * with a currency. What is none of that is not known. The caller and the ledger get the same.
 */
export function soundUsage(usage: RuntimeUsage | null): RuntimeUsage | null {
  if (!usage) return null;
  const amount = usage.cost && CURRENCY.test(usage.cost.currency) ? plainDecimal(usage.cost.amount) : null;
  return {
    promptTokens: count(usage.promptTokens),
    completionTokens: count(usage.completionTokens),
    totalTokens: count(usage.totalTokens),
    durationMs: count(usage.durationMs) ?? 0,
    ...(usage.cost && amount !== null ? { cost: { amount, currency: usage.cost.currency } } : {}),
  };
}

function count(value: number | null): number | null {
  if (value === null || !Number.isFinite(value) || value < 0) return null;
  const whole = Math.round(value);
  return Number.isSafeInteger(whole) ? whole : null;
}
