import { pino, stdSerializers, type DestinationStream, type Logger } from 'pino';

export type { Logger };

/** Injection token of the process's logger: `@Inject(LOGGER) logger: Logger`. */
export const LOGGER = Symbol('Logger');

/** Keys that hold secrets wherever they stand, at the top or one level down. */
const SECRET_KEYS = [
  'authorization',
  'cookie',
  'x-api-key',
  'x-admin-key',
  'apiKey',
  'key',
  'token',
  'secret',
  'password',
];

/** Takes known secret values out of a text; what knows them comes later than the first log line. */
export interface LogRedaction {
  redact: (text: string) => string;
}

export interface LoggerOptions {
  readonly level: string;
  readonly redaction?: LogRedaction;
  /** Default: standard error, written before the call returns, so that a crash loses no line. */
  readonly destination?: DestinationStream;
}

/** JSON lines on standard error; standard output is for what other programs read. */
export function createLogger({ level, redaction, destination }: LoggerOptions): Logger {
  return pino(
    {
      level,
      base: undefined,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: stdSerializers.err, error: stdSerializers.err },
      redact: {
        paths: SECRET_KEYS.flatMap((key) => [`["${key}"]`, `*["${key}"]`, `*.*["${key}"]`]),
        censor: '[redacted]',
      },
      hooks: { streamWrite: (line) => redaction?.redact(line) ?? line },
    },
    destination ?? pino.destination({ fd: 2, sync: true }),
  );
}
