import { createHash } from 'node:crypto';
import { canonicalJson } from '../../common/json/canonical-json.js';
import type { JsonValue } from '../../common/json/json-value.js';
import type { ReceivedFile } from '../uploads/receive-upload.js';

/**
 * SHA-256 (hex) of what a creation asks for: its JSON without regard to the order of keys, and its files by path
 * and content. How the request was written (JSON or multipart, boundary, order of parts) does not count.
 */
export function requestHash(json: JsonValue, files: readonly ReceivedFile[]): string {
  const hash = createHash('sha256');
  hash.update(canonicalJson(json));
  const sorted = [...files].sort((a, b) => (a.path < b.path ? -1 : 1));
  for (const { path, bytes, sha256 } of sorted) hash.update(`\n${JSON.stringify(path)} ${bytes} ${sha256}`);
  return hash.digest('hex');
}
