import type { ServerResponse } from 'node:http';

/** Every answer of `/internal/context` (internal-context-query.md §2); the HTTP status equals `code`. */
export interface Result<T> {
  code: number;
  message: string;
  data: T | null;
}

/** Sends an answer that nothing on its way may keep, cut or change. */
export function sendResult<T>(response: ServerResponse, result: Result<T>): void {
  const text = Buffer.from(JSON.stringify(result));
  response.writeHead(result.code, {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': text.length,
    'Cache-Control': 'no-store',
  });
  response.end(text);
}
