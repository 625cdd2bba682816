/** One bad key: `key` as the user writes it, `source` the file or environment variable it came from, if any. */
export interface ConfigProblem {
  readonly key: string;
  readonly message: string;
  readonly source?: string;
}

/** Thrown when the configuration is unusable; the message names every bad key and never shows a value. */
export class ConfigError extends Error {
  constructor(readonly problems: readonly ConfigProblem[]) {
    const lines = problems.map(
      ({ key, message, source }) => `  ${key}: ${message}${source ? ` (${source})` : ''}`,
    );
    super(`the configuration is not usable:\n${lines.join('\n')}`);
    this.name = 'ConfigError';
  }
}
