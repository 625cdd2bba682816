/** Trace information for the provider's logs; no provider promises idempotency because of them (§5.2). */
export function traceHeaders(ids: { commandId: string; correlationId: string }): Record<string, string> {
  return { 'x-command-id': headerValue(ids.commandId), 'x-correlation-id': headerValue(ids.correlationId) };
}

/** Dify's `X-Trace-Id`: 1 to 128 of `[A-Za-z0-9_-]`. */
export function difyTraceId(commandId: string): string {
  return commandId.replace(/[^A-Za-z0-9_-]/g, '-').slice(0, 128) || '-';
}

/** Header values are visible ASCII; anything else travels percent-encoded. */
function headerValue(text: string): string {
  return encodeURI(Buffer.from(text).toString()).slice(0, 256);
}
