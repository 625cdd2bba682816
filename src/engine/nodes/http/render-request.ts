import { validateHeaderValue } from 'node:http';
import type { JsonValue } from '../../../common/json/json-value.js';
import { renderTemplates, renderText, type TemplateScope } from '../../../workflows/templates/index.js';
import { NodeFailure } from '../node-failure.js';
import type { OutgoingRequest } from './follow-redirects.js';

const MAX_URL_CHARACTERS = 16_000;
const MAX_HEADER_BYTES = 16_000;
const MAX_BODY_BYTES = 10 * 1024 ** 2;

/** Headers that are the connection's own. `host` could name another server than the one that was checked. */
const OWN_HEADERS = new Set([
  ...['host', 'connection', 'content-length', 'transfer-encoding', 'upgrade', 'keep-alive', 'te', 'trailer'],
  ...['expect', 'proxy-connection'],
]);

/** `data` of an `http` node; the texts are templates. */
export interface HttpData {
  method: string;
  url: string;
  headers?: Record<string, string>;
  body?: JsonValue;
}

/** The request a node's `data` describes, its templates filled in. Throws NodeFailure `HTTP_REQUEST`. */
export async function renderRequest(data: HttpData, scope: TemplateScope): Promise<OutgoingRequest> {
  const url = urlIn(await renderText(data.url, scope));
  const headers: Record<string, string> = {};
  for (const [name, template] of Object.entries(data.headers ?? {})) {
    headers[name.toLowerCase()] = headerValue(name, await renderText(template, scope));
  }
  // What nobody asked to be compressed has the size it says.
  headers['accept-encoding'] ??= 'identity';
  const body = data.body === undefined ? undefined : await renderTemplates(data.body, scope);
  return { method: data.method, url, headers, body: bodyBytes(body, headers) };
}

function urlIn(text: string): URL {
  const trimmed = text.trim();
  const url = trimmed.length <= MAX_URL_CHARACTERS && URL.canParse(trimmed) ? new URL(trimmed) : null;
  if (!url || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw refused(`${JSON.stringify(trimmed.slice(0, 200))} is no http or https URL`);
  }
  return url;
}

/** Header bytes are Latin-1 to Node; other text goes out as UTF-8. */
function headerValue(name: string, text: string): string {
  if (OWN_HEADERS.has(name.toLowerCase())) throw refused(`the header ${name} is set by the connection`);
  const value = text.trim();
  if (/[\r\n\0]/.test(value)) throw refused(`the header ${name} would hold a line break`);
  const bytes = Buffer.from(value, 'utf8');
  if (bytes.length > MAX_HEADER_BYTES)
    throw refused(`the header ${name} is longer than ${MAX_HEADER_BYTES} bytes`);
  const sent = bytes.toString('latin1');
  try {
    validateHeaderValue(name, sent);
  } catch (error) {
    throw refused(`the header ${name} would hold a control character`, error);
  }
  return sent;
}

/** A text goes out as it is, any other value as JSON. */
function bodyBytes(body: JsonValue | undefined, headers: Record<string, string>): Buffer | undefined {
  if (body === undefined) return undefined;
  const isText = typeof body === 'string';
  const bytes = Buffer.from(isText ? body : JSON.stringify(body));
  if (bytes.length > MAX_BODY_BYTES) throw refused(`the body is larger than ${MAX_BODY_BYTES} bytes`);
  // Node says no length for methods that seldom have a body.
  headers['content-length'] = String(bytes.length);
  headers['content-type'] ??= isText ? 'text/plain; charset=utf-8' : 'application/json';
  return bytes;
}

function refused(message: string, cause?: unknown): NodeFailure {
  return new NodeFailure('HTTP_REQUEST', message, { cause });
}
