import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate, type ZlibOptions } from 'node:zlib';
import type { JsonObject, JsonValue } from '../../../common/json/json-value.js';
import { JsonTextError, MAX_ANSWER_DEPTH, readJson } from '../../../common/json/read-json.js';
import { ResponseTooLargeError, type GuardedResponse } from '../../../common/net/index.js';
import { NodeFailure } from '../node-failure.js';
import { errorCode } from './error-code.js';

/**
 * What a response leaves as output: `{status, headers, body}`. JSON by its content type is parsed, other text stays
 * text, and what is no text is Base64 beside `encoding: "base64"`. Throws NodeFailure `HTTP_RESPONSE`.
 */
export async function readResponse(response: GuardedResponse, maxBytes: number): Promise<JsonObject> {
  const headers = headersOf(response);
  const bytes = await decompressed(response, maxBytes);
  const [mediaType = '', ...parameters] = (response.headers['content-type'] ?? '').split(';');
  const type = mediaType.trim().toLowerCase();
  const isJson = type === 'application/json' || type.endsWith('+json') || type === 'text/json';
  const text = textOf(bytes, isJson ? 'utf-8' : charsetIn(parameters));
  if (text === null) {
    return { status: response.status, headers, body: bytes.toString('base64'), encoding: 'base64' };
  }
  return { status: response.status, headers, body: isJson ? jsonIn(text) : text };
}

/** The beginning of a body, for the message of a failure. */
export function excerpt({ body, headers }: GuardedResponse): string {
  if (headers['content-encoding'] !== undefined) return '';
  const text = textOf(body.subarray(0, 1_000), 'utf-8')?.replace(/\s+/g, ' ').trim() ?? '';
  return text.length > 300 ? `${text.slice(0, 300)}…` : text;
}

function headersOf({ headers }: GuardedResponse): JsonObject {
  const entries = Object.entries(headers).flatMap(([name, value]): [string, JsonValue][] =>
    value === undefined ? [] : [[name, Array.isArray(value) ? value.map(utf8) : utf8(value)]],
  );
  return Object.fromEntries(entries);
}

/** Node gives header bytes as Latin-1; where they are UTF-8 they are read as such. */
function utf8(value: string): string {
  return textOf(Buffer.from(value, 'latin1'), 'utf-8') ?? value;
}

type Decompress = (bytes: Buffer, options: ZlibOptions) => Promise<Buffer>;
const DECOMPRESS: Readonly<Record<string, Decompress>> = {
  gzip: promisify<Buffer, ZlibOptions, Buffer>(gunzip),
  'x-gzip': promisify<Buffer, ZlibOptions, Buffer>(gunzip),
  deflate: promisify<Buffer, ZlibOptions, Buffer>(inflate),
  br: promisify<Buffer, ZlibOptions, Buffer>(brotliDecompress),
};

async function decompressed({ body, headers }: GuardedResponse, maxBytes: number): Promise<Buffer> {
  const encoding = headers['content-encoding']?.trim().toLowerCase() ?? 'identity';
  if (encoding === 'identity' || encoding === '' || body.length === 0) return body;
  const decompress = DECOMPRESS[encoding];
  if (!decompress)
    throw unreadable(`the answer is encoded as ${encoding.slice(0, 50)}, which is not supported`);
  try {
    return await decompress(body, { maxOutputLength: maxBytes });
  } catch (error) {
    if (errorCode(error) === 'ERR_BUFFER_TOO_LARGE') throw new ResponseTooLargeError(maxBytes);
    throw unreadable(`the answer is not the ${encoding} it says it is`);
  }
}

/** Null where the bytes are not that charset's. */
function textOf(bytes: Buffer, charset: string): string | null {
  try {
    return new TextDecoder(charset, { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}

function charsetIn(parameters: readonly string[]): string {
  for (const parameter of parameters) {
    const charset = /^\s*charset\s*=\s*"?([\w.:-]+)"?\s*$/i.exec(parameter)?.[1];
    if (charset) return charset;
  }
  return 'utf-8';
}

function jsonIn(text: string): JsonValue {
  if (text.trim() === '') return null;
  try {
    return readJson(text, { maxDepth: MAX_ANSWER_DEPTH, unsafeNumbers: 'text' });
  } catch (error) {
    if (!(error instanceof JsonTextError)) throw error;
    throw unreadable(`the answer says that it is JSON, but it ${error.problem}`);
  }
}

function unreadable(message: string): NodeFailure {
  return new NodeFailure('HTTP_RESPONSE', message);
}
