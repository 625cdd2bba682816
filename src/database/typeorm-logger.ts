import type { Logger } from 'typeorm';
import type { DatabaseLog } from './embedded/database-log.js';

/**
 * TypeORM writes to standard output by itself. Failures of statements reach their callers with everything there is to
 * know, so only what reaches nobody is logged: a connection of the pool that broke while it was idle.
 */
export class TypeormLogger implements Logger {
  constructor(private readonly target?: Pick<DatabaseLog, 'debug' | 'warn'>) {}

  log(level: 'log' | 'info' | 'warn', message: unknown): void {
    if (level === 'warn') this.target?.warn(String(message));
    else this.target?.debug(String(message));
  }

  logQuery(): void {
    // Statements hold what users stored.
  }
  logQueryError(): void {
    // Thrown to the caller.
  }
  logQuerySlow(): void {
    // Holds the statement too.
  }
  logSchemaBuild(): void {
    // The schema is built by migrations only.
  }
  logMigration(message: string): void {
    this.target?.debug(message);
  }
}
