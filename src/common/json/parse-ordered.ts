import type { JsonValue } from './json-value.js';
import { orderedObject } from './ordered-object.js';
import { scanJson } from './scan-json.js';

/** A key of digits, escaped ones included; a string value before a colon of another kind does no harm. */
const INDEX_KEY = /"(?:\d|\\u003\d){1,10}"\s*:/;
/** Put before every key, so that none is a number. */
const MARK = '#';

/** `JSON.parse` that keeps the order of all keys (see `orderedObject`). Throws SyntaxError. */
export function parseOrdered(text: string): JsonValue {
  const value = JSON.parse(text) as JsonValue;
  return INDEX_KEY.test(text) ? unmarked(JSON.parse(marked(text)) as JsonValue) : value;
}

function marked(text: string): string {
  const parts: string[] = [];
  let done = 0;
  scanJson(text, {
    key: (from) => {
      parts.push(text.slice(done, from), MARK);
      done = from;
    },
  });
  return parts.join('') + text.slice(done);
}

function unmarked(value: JsonValue): JsonValue {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(unmarked);
  return orderedObject(
    Object.entries(value).map(([key, inner]) => [key.slice(MARK.length), unmarked(inner)] as const),
  );
}
