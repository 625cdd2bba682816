import type { JsonObject } from '../common/json/json-value.js';

/**
 * What a visit leaves behind (internal-context-query.md §2.2): `status` 200 with `调用成功`, or 500 with the
 * error's message and `data: null`.
 */
export interface Envelope {
  status: 200 | 500;
  message: string;
  data: JsonObject | null;
}

export function succeeded(data: JsonObject): Envelope {
  return { status: 200, message: '调用成功', data };
}

export function failed(message: string): Envelope {
  return { status: 500, message, data: null };
}
