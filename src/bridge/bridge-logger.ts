import { pino } from 'pino';
import { maskSecrets } from './mask-secrets.js';

/** What the bridge needs of a logger; pino's shape. */
export interface BridgeLogger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** JSON lines on stderr, which the parent takes into its own log. `secrets` are masked in every line. */
export function bridgeLogger(level: string, secrets: readonly string[]): BridgeLogger {
  const stream = { write: (line: string): void => void process.stderr.write(maskSecrets(line, secrets)) };
  return pino({ level, base: { component: 'bridge' } }, stream);
}
