import type { LoggerService } from '@nestjs/common';
import type { Logger } from 'pino';

/** Nest's chatter at the start: every module and every route. */
const CHATTER: ReadonlySet<unknown> = new Set([
  'InstanceLoader',
  'RoutesResolver',
  'RouterExplorer',
  'NestFactory',
  'NestApplication',
]);

/**
 * Nest's own lines and those of `new Logger('Context')`, written by pino. Nest hands over the message, then anything,
 * then for errors a stack, and the context as the last string.
 */
export class NestLogger implements LoggerService {
  constructor(private readonly logger: Logger) {}

  log(message: unknown, ...rest: unknown[]): void {
    this.#write(CHATTER.has(rest.at(-1)) ? 'debug' : 'info', message, rest);
  }
  error(message: unknown, ...rest: unknown[]): void {
    this.#write('error', message, rest);
  }
  warn(message: unknown, ...rest: unknown[]): void {
    this.#write('warn', message, rest);
  }
  debug(message: unknown, ...rest: unknown[]): void {
    this.#write('debug', message, rest);
  }
  verbose(message: unknown, ...rest: unknown[]): void {
    this.#write('trace', message, rest);
  }
  fatal(message: unknown, ...rest: unknown[]): void {
    this.#write('fatal', message, rest);
  }

  #write(
    level: 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace',
    message: unknown,
    rest: unknown[],
  ): void {
    const fields: Record<string, unknown> = {};
    const values = [...rest];
    const last = values.at(-1);
    if (typeof last === 'string' && !isStack(last)) fields.context = values.pop();
    const errors = [message, ...values].filter((value) => value instanceof Error);
    const stack = values.find((value) => typeof value === 'string' && isStack(value));
    if (errors[0]) fields.err = errors[0];
    else if (stack) fields.stack = stack;
    const others = values.filter(
      (value) => value !== stack && !(value instanceof Error) && value !== undefined,
    );
    if (others.length > 0) fields.detail = others;
    if (typeof message === 'object' && message !== null && !(message instanceof Error)) {
      this.logger[level]({ ...fields, ...message });
    } else {
      this.logger[level](fields, message instanceof Error ? message.message : String(message));
    }
  }
}

function isStack(text: string): boolean {
  return /\n\s+at /.test(text);
}
