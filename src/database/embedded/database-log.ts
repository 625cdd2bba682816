import type { BaseLogger } from 'pino';

/** What the database tells of itself. */
export type DatabaseLog = Pick<BaseLogger, 'debug' | 'info' | 'warn' | 'error'>;
