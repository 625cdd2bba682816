import { parseJson } from '../parse-json.js';

const PLACEHOLDER = '%LAST%';

/** Puts the last tool result into a text, as JSON. */
export function withLast(text: string, last: unknown): string {
  return text.replaceAll(PLACEHOLDER, () => JSON.stringify(last));
}

/**
 * Parses JSON in which `%LAST%` may stand: inside a string it becomes the result's JSON text, outside of one the
 * result itself. Throws SyntaxError, or UnsafeIntegerError.
 */
export function jsonWithLast(json: string, last: unknown): unknown {
  if (!json.includes(PLACEHOLDER)) return parseJson(json, 'refuse');
  try {
    return replaced(parseJson(json, 'refuse'), last);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return parseJson(withLast(json, last), 'refuse');
  }
}

function replaced(value: unknown, last: unknown): unknown {
  if (typeof value === 'string') return withLast(value, last);
  if (Array.isArray(value)) return value.map((item) => replaced(item, last));
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, replaced(item, last)]));
  }
  return value;
}
