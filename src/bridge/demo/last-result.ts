import { orderedObject } from '../../common/json/ordered-object.js';
import { JsonTextError, MAX_ANSWER_DEPTH, readJson } from '../../common/json/read-json.js';

const PLACEHOLDER = '%LAST%';

/** Puts the last tool result into a text, as JSON. */
export function withLast(text: string, last: unknown): string {
  return text.replaceAll(PLACEHOLDER, () => JSON.stringify(last));
}

/**
 * Parses JSON in which `%LAST%` may stand: inside a string it becomes the result's JSON text, outside of one the
 * result itself. Throws JsonTextError, also for numbers that would be changed: they are the prompt's author's.
 */
export function jsonWithLast(json: string, last: unknown): unknown {
  if (!json.includes(PLACEHOLDER)) return strict(json);
  try {
    return replaced(strict(json), last);
  } catch (error) {
    if (!(error instanceof JsonTextError && error.kind === 'syntax')) throw error;
    return strict(withLast(json, last));
  }
}

function strict(json: string): unknown {
  return readJson(json, { maxDepth: MAX_ANSWER_DEPTH, unsafeNumbers: 'refuse' });
}

function replaced(value: unknown, last: unknown): unknown {
  if (typeof value === 'string') return withLast(value, last);
  if (Array.isArray(value)) return value.map((item) => replaced(item, last));
  if (typeof value === 'object' && value !== null) {
    return orderedObject(Object.entries(value).map(([key, item]) => [key, replaced(item, last)] as const));
  }
  return value;
}
