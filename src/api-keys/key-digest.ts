import { createHash, timingSafeEqual } from 'node:crypto';

/** SHA-256 of a key. Keys are compared by it: always of one length, so that the time tells nothing. */
export function keyDigest(key: string): Buffer {
  return createHash('sha256').update(key, 'utf8').digest();
}

/** Looks through all candidates, whichever matches, so that the time does not tell which. */
export function findByDigest<T extends { readonly digest: Buffer }>(
  candidates: readonly T[],
  digest: Buffer,
): T | undefined {
  let found: T | undefined;
  for (const candidate of candidates) {
    if (timingSafeEqual(candidate.digest, digest)) found ??= candidate;
  }
  return found;
}
