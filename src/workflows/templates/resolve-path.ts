import type { JsonValue } from '../../common/json/json-value.js';
import type { TemplateScope } from './render-template.js';

/** `node.key`, `node.key.deeper.0` or `node`; null when it is no such path. */
export function parsePath(path: string): { readonly root: string; readonly rest: string } | null {
  const [, root, , rest] = /^([A-Za-z][A-Za-z0-9_-]*)(\.(.+))?$/s.exec(path) ?? [];
  return root === undefined ? null : { root, rest: rest ?? '' };
}

/**
 * The value at a path, or undefined. What follows the node id is an exact key of its data first, then a dotted
 * path (decision 27); list elements are counted from 0. Only own properties are seen.
 */
export function resolvePath(scope: TemplateScope, path: string): JsonValue | undefined {
  const parsed = parsePath(path);
  if (!parsed) return undefined;
  const data = ownValue(scope, parsed.root);
  if (parsed.rest === '') return data;
  const exact = ownValue(data, parsed.rest);
  if (exact !== undefined) return exact;
  let value = data;
  for (const key of parsed.rest.split('.')) value = ownValue(value, key);
  return value;
}

function ownValue(value: JsonValue | undefined, key: string): JsonValue | undefined {
  if (value === null || typeof value !== 'object') return undefined;
  if (Array.isArray(value)) return /^(?:0|[1-9]\d{0,9})$/.test(key) ? value[Number(key)] : undefined;
  return Object.hasOwn(value, key) ? value[key] : undefined;
}
