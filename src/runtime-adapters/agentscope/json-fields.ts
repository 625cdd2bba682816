import type { JsonValue } from '../../common/json/json-value.js';
import { parseJsonOr } from '../http-sse/read-body.js';

export type Fields = Record<string, unknown>;

export function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

export function textOrNull(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

export function count(value: unknown): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null;
}

/** The value that a JSON text stands for; any other text as it is. */
export function parsed(value: unknown): JsonValue {
  if (typeof value !== 'string') return (value ?? null) as JsonValue;
  return parseJsonOr(value, value) as JsonValue;
}
