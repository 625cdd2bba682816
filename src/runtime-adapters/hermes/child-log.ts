import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';

/** The part of the server's pino logger that is used here. */
export interface HermesLogger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

const MAX_LINE = 16_384;

/** Takes what a bridge writes to stderr into the server's log: its JSON lines by level, anything else as warnings. */
export function relayLog(
  stderr: Readable,
  options: { logger: HermesLogger; pid: number; redact: (line: string) => string },
): void {
  const { logger, pid, redact } = options;
  // A stream without line breaks must not grow without end.
  const lines = createInterface({ input: stderr, crlfDelay: Infinity });
  lines.on('line', (raw) => {
    const line = redact(raw.slice(0, MAX_LINE));
    const entry = jsonObject(line);
    if (!entry) {
      if (line.trim() !== '') logger.warn({ component: 'bridge', pid }, line);
      return;
    }
    const { level, msg, ...fields } = entry;
    const message = typeof msg === 'string' ? msg : '';
    // The server's line has a time of its own.
    delete fields['time'];
    logger[methodOf(level)]({ ...fields, component: 'bridge', pid }, message);
  });
}

function methodOf(level: unknown): keyof HermesLogger {
  if (typeof level !== 'number') return 'info';
  if (level >= 50) return 'error';
  if (level >= 40) return 'warn';
  return level >= 30 ? 'info' : 'debug';
}

function jsonObject(line: string): Record<string, unknown> | null {
  if (!line.startsWith('{')) return null;
  try {
    return JSON.parse(line) as Record<string, unknown>;
  } catch {
    return null;
  }
}
