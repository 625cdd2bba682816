import { ValidationError } from '../../common/errors/domain-error.js';

/** What the headers of a multipart part say about it. */
export interface PartHeader {
  /** The form field's name. */
  name: string;
  /** Where the file goes: X-Relative-Path, else `filename*`, else `filename`; null for a plain field. */
  path: string | null;
}

/** Headers as Dicer shows them: lower-case names, each byte of a value one character. */
export type RawPartHeaders = Readonly<Record<string, readonly string[] | undefined>>;

/** Reads a part's headers (decision 16). Names are raw UTF-8, or RFC 5987 in `filename*`. */
export function readPartHeader(headers: RawPartHeaders): PartHeader {
  const disposition = single(headers, 'content-disposition');
  if (disposition === undefined) refuse('has no Content-Disposition');
  const { type, parameters } = parseDisposition(asUtf8(disposition));
  if (type !== 'form-data') refuse('is not form-data');
  const name = parameters.get('name');
  if (name === undefined) refuse('has no name');
  const relative = single(headers, 'x-relative-path');
  if (relative !== undefined) return { name, path: asUtf8(relative) };
  const extended = parameters.get('filename*');
  if (extended !== undefined) return { name, path: decodeExtended(extended) };
  return { name, path: parameters.get('filename') ?? null };
}

/** Of two headers of one name nobody knows which one counts. */
function single(headers: RawPartHeaders, name: string): string | undefined {
  const values = headers[name];
  if (values !== undefined && values.length > 1) refuse(`has more than one ${name} header`);
  return values?.[0];
}

function refuse(why: string): never {
  throw new ValidationError(`a part of the multipart body ${why}`);
}

/** Dicer hands over bytes as characters; names are UTF-8 on the wire. */
function asUtf8(binary: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.from(binary, 'latin1'));
  } catch {
    return refuse('has a header that is not valid UTF-8');
  }
}

interface Disposition {
  type: string;
  parameters: Map<string, string>;
}

/**
 * `form-data; name="a"; filename="b"`. Inside quotes only `\"` and `\\` are escapes, so that a Windows path that
 * an old client sends unescaped is not mangled into another name; `%22`, `%0D` and `%0A` are what browsers
 * write for a quote and line breaks (WHATWG multipart/form-data).
 */
function parseDisposition(text: string): Disposition {
  const type = /^\s*([^\s;]+)\s*/.exec(text);
  if (!type) return refuse('has a malformed Content-Disposition');
  const parameters = new Map<string, string>();
  let at = type[0].length;
  const parameter = /\s*;\s*(?:([!#$%&'*+.^_`|~\w-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;"]*))\s*)?/sy;
  while (at < text.length) {
    parameter.lastIndex = at;
    const match = parameter.exec(text);
    if (!match) return refuse('has a malformed Content-Disposition');
    at = parameter.lastIndex;
    const [, key, quoted, token] = match;
    if (key === undefined) continue;
    const value = quoted === undefined ? (token ?? '') : unquote(quoted);
    const lower = key.toLowerCase();
    if (parameters.has(lower)) return refuse(`repeats ${lower} in its Content-Disposition`);
    parameters.set(lower, value);
  }
  return { type: (type[1] ?? '').toLowerCase(), parameters };
}

function unquote(quoted: string): string {
  return quoted
    .replace(/\\(["\\])/g, '$1')
    .replace(/%22/g, '"')
    .replace(/%0D/gi, '\r')
    .replace(/%0A/gi, '\n');
}

/** RFC 5987: `UTF-8''%e6%8a%a5.md`; ISO-8859-1 is the other charset the RFC asks for. */
function decodeExtended(value: string): string {
  const match = /^([^']*)'[^']*'(.*)$/s.exec(value);
  const charset = match?.[1]?.toLowerCase();
  const encoded = match?.[2];
  if (encoded === undefined || /%(?![0-9a-fA-F]{2})/.test(encoded))
    return refuse('has a malformed filename*');
  if (charset === 'utf-8') {
    try {
      return decodeURIComponent(encoded);
    } catch {
      return refuse('has a filename* that is not valid UTF-8');
    }
  }
  if (charset === 'iso-8859-1') {
    return encoded.replace(/%([0-9a-fA-F]{2})/g, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)));
  }
  return refuse('has a filename* in an unknown charset');
}
