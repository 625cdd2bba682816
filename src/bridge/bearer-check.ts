import { createHash, timingSafeEqual } from 'node:crypto';

/** Whether an `Authorization` header carries the secret; takes the same time wherever they differ. */
export function bearerCheck(secret: string): (header: string | undefined) => boolean {
  const expected = digest(`Bearer ${secret}`);
  return (header) => timingSafeEqual(digest(header ?? ''), expected);
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
