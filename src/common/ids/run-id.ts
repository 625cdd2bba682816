import { randomBytes } from 'node:crypto';
import { timeInHex } from './time-in-hex.js';

/**
 * A new run id: 32 lower-case hex characters, the time in milliseconds and 80 random bits (decision 3). Opaque to
 * clients. It begins with the time so that what is stored under it lies together: random keys would touch another page
 * of every index for each run, which no cache holds for long.
 */
export function newRunId(): string {
  return timeInHex() + randomBytes(10).toString('hex');
}
