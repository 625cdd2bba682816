import { randomUUID } from 'node:crypto';
import type { NextFunction, Request, Response } from 'express';

const HEADER = 'X-Request-Id';
const ids = new WeakMap<object, string>();

/** Names every request, by the caller's own `X-Request-Id` where it is harmless; answers carry the same header. */
export function assignRequestId(request: Request, response: Response, next: NextFunction): void {
  const given = request.headers['x-request-id'];
  const id = typeof given === 'string' && /^[\w.-]{1,100}$/.test(given) ? given : randomUUID();
  ids.set(request, id);
  response.setHeader(HEADER, id);
  next();
}

/** The id under which the request is found in the log. */
export function requestId(request: object): string {
  let id = ids.get(request);
  if (id === undefined) {
    id = randomUUID();
    ids.set(request, id);
  }
  return id;
}
