import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Lets a worker thread run from sources; part of the tests, not of a built server. */
const TYPESCRIPT_LOADER = new URL('../../../test/support/typescript-loader/register.js', import.meta.url);

/**
 * Where a worker's module lies and the options its thread starts with: `new URL('./x-worker.js', import.meta.url)`
 * as it is in a built server, its TypeScript source where tests run from sources.
 */
export function workerModule(module: URL): { url: URL; execArgv: string[] } {
  if (existsSync(fileURLToPath(module))) return { url: module, execArgv: [] };
  const source = new URL(module.href.replace(/\.js$/, '.ts'));
  return { url: source, execArgv: ['--import', TYPESCRIPT_LOADER.href] };
}
