import { Catch, Logger, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { Request, Response } from 'express';
import { describeError, requestId } from '../../common/http/index.js';
import { ContextQueryError } from '../queries/context-query-error.js';
import { sendResult } from './result.js';

/** Answers every error of the context endpoints in their own shape; nothing internal is told. */
@Catch()
export class ContextErrorFilter implements ExceptionFilter {
  readonly #logger = new Logger(ContextErrorFilter.name);

  catch(error: unknown, host: ArgumentsHost): void {
    const request = host.switchToHttp().getRequest<Request>();
    const response = host.switchToHttp().getResponse<Response>();
    // The rest of a body that nobody read must not be taken for the next request.
    if (!request.complete) response.setHeader('Connection', 'close');
    if (error instanceof ContextQueryError) {
      sendResult(response, { code: error.code, message: error.message, data: null });
      return;
    }
    const id = requestId(request);
    const { status, body, internal } = describeError(error, id);
    if (internal) this.#logger.error(`context query ${id} failed`, error);
    sendResult(response, { code: status, message: body.message, data: null });
  }
}
