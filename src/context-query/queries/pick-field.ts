import type { JsonObject, JsonValue } from '../../common/json/json-value.js';
import { ContextQueryError } from './context-query-error.js';

const MAX_KEYS_NAMED = 100;
const MAX_NAMES_LENGTH = 4_000;

/**
 * The value of `field` in a node's output: an exact key first, then a dotted path through objects and lists
 * (decision 27). Throws 404 with the keys there are.
 */
export function pickField(data: JsonObject, field: string): JsonValue {
  const exact = ownValue(data, field);
  if (exact !== undefined) return exact;
  let value: JsonValue | undefined = data;
  for (const key of field.split('.')) value = ownValue(value, key);
  if (value !== undefined) return value;
  throw new ContextQueryError(404, `the output has no field ${JSON.stringify(field)}; ${keysOf(data)}`);
}

function ownValue(container: JsonValue | undefined, key: string): JsonValue | undefined {
  if (typeof container !== 'object' || container === null || !Object.hasOwn(container, key)) return undefined;
  if (Array.isArray(container)) return /^\d+$/.test(key) ? container[Number(key)] : undefined;
  return container[key];
}

function keysOf(data: JsonObject): string {
  const keys = Object.keys(data);
  if (keys.length === 0) return 'it has none';
  const names = keys.slice(0, MAX_KEYS_NAMED).join(', ');
  const all = keys.length <= MAX_KEYS_NAMED && names.length <= MAX_NAMES_LENGTH;
  // Half a character at the end would be no text that every reader takes.
  return `it has: ${all ? names : `${names.slice(0, MAX_NAMES_LENGTH).replace(/[\ud800-\udbff]$/, '')}, …`}`;
}
