import type { NextFunction, Request, Response } from 'express';

/** Answers are data, never pages: nothing in them may run, be framed or be guessed to be something else. */
const HEADERS: Readonly<Record<string, string>> = {
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Cache-Control': 'no-store',
};

/** The one page there is, the API's documentation, brings scripts and styles of its own. */
const PAGE_POLICY =
  "default-src 'self'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'none'";

export function securityHeaders(request: Request, response: Response, next: NextFunction): void {
  for (const [name, value] of Object.entries(HEADERS)) response.setHeader(name, value);
  if (/^\/docs(\/|$)/.test(request.path)) response.setHeader('Content-Security-Policy', PAGE_POLICY);
  next();
}
