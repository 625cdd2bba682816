import type { ProviderAnswer } from './send-to-provider.js';
import { TransportFault } from './transport-fault.js';

/** Most of an answer that is read as one piece. */
export const MAX_BODY_BYTES = 16 * 1024 * 1024;
/** Enough of a refusal to find its code in. */
const MAX_ERROR_BYTES = 64 * 1024;

/** @throws TransportFault `too_large`, or as the connection ends. */
export async function readBody(answer: ProviderAnswer, maxBytes = MAX_BODY_BYTES): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of answer.chunks) {
    bytes += chunk.length;
    if (bytes > maxBytes) {
      answer.close();
      throw new TransportFault('too_large', `the answer has more than ${String(maxBytes)} bytes`);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** @throws TransportFault `malformed` when it is not JSON. */
export async function readJson(answer: ProviderAnswer): Promise<unknown> {
  const value = parseJsonOr(await readBody(answer), undefined);
  if (value === undefined) throw new TransportFault('malformed', 'the answer is not JSON');
  return value;
}

/**
 * What a refusal says, as JSON, or null where it is something else (a proxy's HTML page) or cannot be read: the
 * status has already told the failure.
 */
export async function readRefusal(answer: ProviderAnswer): Promise<unknown> {
  try {
    return parseJsonOr(await readBody(answer, MAX_ERROR_BYTES), null);
  } catch (error) {
    if (error instanceof TransportFault && error.kind !== 'aborted') return null;
    throw error;
  }
}

/** `otherwise` for what is not JSON. */
export function parseJsonOr(text: string, otherwise: unknown): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return otherwise;
  }
}
