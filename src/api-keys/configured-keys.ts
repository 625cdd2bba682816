import type { SecretReader } from '../config/secret-reader.js';
import { SecretUnavailableError } from '../config/secret-reader.js';
import { keyDigest } from './key-digest.js';

interface KeySource {
  readonly key?: string;
  readonly keyEnv?: string;
  readonly keyFile?: string;
}

/**
 * The keys of a configuration list with their present digests. Files are read again when they have changed. A key
 * whose secret cannot be had any more opens nothing; `onUnavailable` learns of it, the others go on.
 */
export function configuredKeys<T extends KeySource>(
  entries: readonly T[],
  secrets: SecretReader,
  path: string,
  onUnavailable: (error: SecretUnavailableError) => void,
): { readonly entry: T; readonly digest: Buffer }[] {
  return entries.flatMap((entry, at) => {
    try {
      const source = { literal: entry.key, env: entry.keyEnv, file: entry.keyFile };
      return [{ entry, digest: keyDigest(secrets.read(source, `${path}[${at}]`)) }];
    } catch (error) {
      if (!(error instanceof SecretUnavailableError)) throw error;
      onUnavailable(error);
      return [];
    }
  });
}
