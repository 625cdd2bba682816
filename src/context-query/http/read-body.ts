import type { IncomingMessage } from 'node:http';

/** Longest body of a context query, in bytes. */
export const MAX_BODY_BYTES = 64 * 1024;

/** A body that goes on and on is cut off with its connection. */
const MAX_IGNORED_BYTES = 10 * 1024 ** 2;

/** The whole body; null when it is too long; rejects when the caller goes away first. */
export async function readBody(request: IncomingMessage): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes <= MAX_BODY_BYTES) chunks.push(chunk);
    else if (bytes > MAX_IGNORED_BYTES) throw new Error('the body does not end');
  }
  return bytes > MAX_BODY_BYTES ? null : Buffer.concat(chunks);
}
