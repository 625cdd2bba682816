import { randomUUID } from 'node:crypto';
import { Catch, Logger, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { Response } from 'express';
import { ContextQueryError } from '../queries/context-query-error.js';
import { sendResult } from './result.js';

/** Answers every error of the context endpoints in their own shape; nothing internal is told. */
@Catch()
export class ContextErrorFilter implements ExceptionFilter {
  readonly #logger = new Logger(ContextErrorFilter.name);

  catch(error: unknown, host: ArgumentsHost): void {
    const response = host.switchToHttp().getResponse<Response>();
    if (error instanceof ContextQueryError) {
      sendResult(response, { code: error.code, message: error.message, data: null });
      return;
    }
    const id = randomUUID();
    this.#logger.error(`context query failed (${id})`, error);
    sendResult(response, { code: 500, message: `internal error ${id}`, data: null });
  }
}
