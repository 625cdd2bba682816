import { randomBytes } from 'node:crypto';

/** A new run id: 20 lower-case hex characters, 80 random bits (decision 3). Opaque to clients. */
export function newRunId(): string {
  return randomBytes(10).toString('hex');
}
