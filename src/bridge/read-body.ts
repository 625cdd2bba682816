import type { IncomingMessage } from 'node:http';

/** Thrown when a request's body is larger than allowed; its rest is not read. */
export class BodyTooLargeError extends Error {
  constructor(readonly limit: number) {
    super(`the body is larger than ${limit} bytes`);
    this.name = 'BodyTooLargeError';
  }
}

/** Thrown when a body is not UTF-8. */
export class BodyEncodingError extends Error {
  constructor() {
    super('the body is not UTF-8');
    this.name = 'BodyEncodingError';
  }
}

/** The body as text, at most `limit` bytes. */
export async function readBody(request: IncomingMessage, limit: number): Promise<string> {
  if (Number(request.headers['content-length'] ?? 0) > limit) throw new BodyTooLargeError(limit);
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > limit) throw new BodyTooLargeError(limit);
    chunks.push(chunk);
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks));
  } catch {
    throw new BodyEncodingError();
  }
}
