import type { IncomingMessage } from 'node:http';
import type { NextFunction, Request, Response } from 'express';
import { errorEnvelope } from './envelope.js';

/** What of a request's head keeps it from being answered, or null: what Node would answer without a body. */
export function headProblem(request: IncomingMessage): { status: number; message: string } | null {
  const { headers, rawHeaders, httpVersion } = request;
  const hosts = rawHeaders.filter((name, at) => at % 2 === 0 && name.toLowerCase() === 'host').length;
  if (hosts === 0 && httpVersion === '1.1') {
    return { status: 400, message: 'an HTTP/1.1 request must have a Host header' };
  }
  if (hosts > 1) return { status: 400, message: 'the request has more than one Host header' };
  if (headers.expect !== undefined && headers.expect.trim().toLowerCase() !== '100-continue') {
    return { status: 417, message: 'only the expectation 100-continue can be met' };
  }
  return null;
}

/** Refuses such requests in the envelope, and ends their connection: what follows on it may not be a request. */
export function refuseUnsoundHead(request: Request, response: Response, next: NextFunction): void {
  const problem = headProblem(request);
  if (!problem) {
    next();
    return;
  }
  const { status, message } = problem;
  response.status(status).set('Connection', 'close').json(errorEnvelope('VALIDATION_FAILED', message));
}
