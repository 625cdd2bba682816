import { readAnswer } from '../../common/json/read-answer.js';
import { JsonTextError, MAX_ANSWER_DEPTH } from '../../common/json/read-json.js';
import type { ProviderAnswer } from './send-to-provider.js';
import { TransportFault } from './transport-fault.js';

/** Most of an answer that is read as one piece. */
export const MAX_BODY_BYTES = 16 * 1024 * 1024;
/** Enough of a refusal to find its code in. */
const MAX_ERROR_BYTES = 64 * 1024;
/** What a provider wraps its answers in comes on top. */
const MAX_DEPTH = MAX_ANSWER_DEPTH + 20;

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

/**
 * What a provider sent as JSON, numbers that would be changed as texts (decision 4); `otherwise` for what is not JSON.
 *
 * @throws TransportFault `malformed` when it is nested too deep.
 */
export function parseJsonOr(text: string, otherwise: unknown): unknown {
  try {
    return readAnswer(text, MAX_DEPTH) ?? otherwise;
  } catch (error) {
    if (!(error instanceof JsonTextError)) throw error;
    throw new TransportFault('malformed', error.saidOf('what the provider sent'));
  }
}
