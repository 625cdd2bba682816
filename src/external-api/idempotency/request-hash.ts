import { createHash } from 'node:crypto';
import type { ReceivedFile } from '../uploads/receive-upload.js';

/**
 * SHA-256 (hex) of what a creation asks for: its JSON without regard to the order of keys, and its files by path
 * and content. How the request was written (JSON or multipart, boundary, order of parts) does not count.
 */
export function requestHash(json: unknown, files: readonly ReceivedFile[]): string {
  const hash = createHash('sha256');
  hash.update(canonicalJson(json));
  const sorted = [...files].sort((a, b) => (a.path < b.path ? -1 : 1));
  for (const { path, bytes, sha256 } of sorted) hash.update(`\n${JSON.stringify(path)} ${bytes} ${sha256}`);
  return hash.digest('hex');
}

/** JSON text with sorted keys. The depth of `value` is bounded by the parser that made it. */
function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, inner]) => `${JSON.stringify(key)}:${canonicalJson(inner)}`).join(',')}}`;
}
