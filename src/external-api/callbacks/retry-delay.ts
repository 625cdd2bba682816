const FIRST_MILLIS = 1000;
const FACTOR = 5;
const LONGEST_MILLIS = 3_600_000;

/**
 * How long to wait after the failure of an attempt (from 1): 1 s, 5 s, 25 s … at most an hour, at least what the
 * receiver asked for, spread by ±20 % so that receivers that come back are not met by everything at once.
 */
export function retryDelay(attempt: number, retryAfterMillis: number | null, random = Math.random()): number {
  const backoff = Math.min(FIRST_MILLIS * FACTOR ** (attempt - 1), LONGEST_MILLIS) * (0.8 + 0.4 * random);
  return Math.max(Math.round(backoff), Math.min(retryAfterMillis ?? 0, LONGEST_MILLIS));
}
