import { Catch, HttpException, Inject, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { Request, Response } from 'express';
import { LOGGER, type Logger } from '../logging/logger.js';
import { allowedMethods, type RoutedApplication } from './allowed-methods.js';
import { describeError, type ErrorAnswer } from './describe-error.js';
import { errorEnvelope } from './envelope.js';
import { requestId } from './request-id.js';

/** Turns whatever a route throws into the error envelope; what is ours to fix is logged under the request's id. */
@Catch()
export class ApiExceptionFilter implements ExceptionFilter {
  constructor(
    @Inject(LOGGER) private readonly logger: Logger,
    private readonly adapterHost: HttpAdapterHost,
  ) {}

  catch(error: unknown, host: ArgumentsHost): void {
    const request = host.switchToHttp().getRequest<Request>();
    const response = host.switchToHttp().getResponse<Response>();
    const id = requestId(request);
    const answer = this.#wrongMethod(error, request) ?? describeError(error, id);
    const line = { err: error, requestId: id, method: request.method, path: request.path };
    if (answer.internal) this.logger.error(line, 'a request failed');
    else this.logger.debug(line, 'a request was refused');
    if (response.headersSent) {
      // In the middle of a stream or download: only a cut connection tells the client that it is not whole.
      response.destroy();
      return;
    }
    // What a route meant for its success.
    for (const header of ['Content-Disposition', 'Content-Length', 'Content-Encoding', 'ETag']) {
      response.removeHeader(header);
    }
    // A body that nobody reads any more: take it, or its sender never gets to reading the answer.
    if (!request.complete) request.unpipe().resume();
    response.status(answer.status).set(answer.headers).json(answer.body);
  }

  /** Nest knows no 405: a path without the method looks to it like no path at all. */
  #wrongMethod(error: unknown, request: Request): ErrorAnswer | undefined {
    if (!(error instanceof HttpException) || error.getStatus() !== 404) return undefined;
    const methods = allowedMethods(this.adapterHost.httpAdapter.getInstance<RoutedApplication>(), request);
    if (methods.length === 0 || methods.includes(request.method)) return undefined;
    const body = errorEnvelope('METHOD_NOT_ALLOWED', `this route takes ${methods.join(', ')}`);
    return { status: 405, body, headers: { Allow: methods.join(', ') }, internal: false };
  }
}
