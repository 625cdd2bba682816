import { createHmac } from 'node:crypto';

/**
 * Headers of a signed webhook (Standard Webhooks 1.0): an HMAC-SHA256 over `id.timestamp.body`. A secret that begins
 * with `whsec_` is base64, any other one its own bytes.
 */
export function webhookHeaders(secret: string, id: string, at: Date, body: string): Record<string, string> {
  const timestamp = Math.floor(at.getTime() / 1000).toString();
  const key = secret.startsWith('whsec_') ? Buffer.from(secret.slice(6), 'base64') : Buffer.from(secret);
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` };
}
