import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/**
 * The compiled bridge: beside this file in a built server, in dist/ when the server runs from its sources. Throws
 * an Error that says what to do when it has not been built.
 */
export function bridgeEntry(): string {
  const candidates = ['../../bridge/main.js', '../../../dist/bridge/main.js'];
  for (const candidate of candidates) {
    const path = fileURLToPath(new URL(candidate, import.meta.url));
    if (existsSync(path)) return path;
  }
  throw new Error('the bridge is not built: run `npm run build`');
}
