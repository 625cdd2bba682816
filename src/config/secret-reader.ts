import { readFileSync, statSync } from 'node:fs';
import type { Environment } from './environment-overrides.js';

/** Where a secret comes from; exactly one is set. */
export interface SecretSource {
  /** The secret itself: development only. */
  readonly literal?: string;
  /** Name of an environment variable. */
  readonly env?: string;
  /** Path of a file; a trailing line break does not belong to the secret. */
  readonly file?: string;
}

/** Thrown when a secret cannot be had; the message names the configuration key to fix, never a value. */
export class SecretUnavailableError extends Error {
  constructor(
    readonly key: string,
    why: string,
    options?: ErrorOptions,
  ) {
    super(`${key}: ${why}`, options);
    this.name = 'SecretUnavailableError';
  }
}

interface CachedFile {
  readonly version: string;
  readonly text: string;
}

/**
 * Resolves secrets that the configuration names (decision 5). A file is read again once it has changed, so that a
 * key can be rotated without a restart; values live in memory only.
 */
export class SecretReader {
  readonly #files = new Map<string, CachedFile>();
  /** What was read before anybody watched: by the checks at the start. */
  readonly #early = new Map<string, string>();
  #watch: ((key: string, value: string) => void) | null = null;

  constructor(private readonly environment: Environment) {}

  /** `watch` is told every value that was or will be read, so that it can be kept out of the log. */
  observe(watch: (key: string, value: string) => void): void {
    this.#watch = watch;
    for (const [key, value] of this.#early) watch(key, value);
    this.#early.clear();
  }

  /** `key` is the configuration key that names the source, for the error. */
  read(source: SecretSource, key: string): string {
    const value = this.#resolve(source, key);
    if (this.#watch) this.#watch(key, value);
    else this.#early.set(key, value);
    return value;
  }

  #resolve(source: SecretSource, key: string): string {
    const given = [source.literal, source.env, source.file].filter((one) => one !== undefined);
    if (given.length !== 1) throw new SecretUnavailableError(key, 'needs exactly one source of its secret');
    if (source.literal !== undefined) return source.literal;
    if (source.env !== undefined) return this.#fromEnvironment(source.env, key);
    return this.#fromFile(source.file ?? '', key);
  }

  #fromEnvironment(name: string, key: string): string {
    const value = this.environment[name];
    if (!value) throw new SecretUnavailableError(key, `the environment variable ${name} is not set`);
    return value;
  }

  #fromFile(file: string, key: string): string {
    try {
      const { mtimeMs, ctimeMs, size, ino } = statSync(file);
      const version = [mtimeMs, ctimeMs, size, ino].join(':');
      const cached = this.#files.get(file);
      if (cached?.version === version) return cached.text;
      const text = readFileSync(file, 'utf8').replace(/\r?\n$/, '');
      if (text === '') throw new SecretUnavailableError(key, `the file ${file} is empty`);
      this.#files.set(file, { version, text });
      return text;
    } catch (error) {
      this.#files.delete(file);
      if (error instanceof SecretUnavailableError) throw error;
      throw new SecretUnavailableError(key, `the file ${file} cannot be read`, { cause: error });
    }
  }
}
