import type { JsonValue } from './json-value.js';

/**
 * The one text a JSON value has: no spaces, keys in UTF-16 order at every level. Equal values have equal texts,
 * whatever order their keys came in, so digests can be taken of it.
 */
export function canonicalJson(value: JsonValue): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  const members = Object.keys(value)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonicalJson(value[key] ?? null)}`);
  return `{${members.join(',')}}`;
}
