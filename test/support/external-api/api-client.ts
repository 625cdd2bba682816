import { randomUUID } from 'node:crypto';
import { createParser, type EventSourceMessage } from 'eventsource-parser';

/** Some JSON. Tests look into it as they expect it to be; `text` and `list` say what a leaf is. */
export interface Data {
  readonly [key: string]: Data;
}

export function text(data: Data | undefined): string {
  if (typeof data !== 'string') throw new Error(`not a string: ${JSON.stringify(data)}`);
  return data;
}

export function list(data: Data | undefined): Data[] {
  if (!Array.isArray(data)) throw new Error(`not a list: ${JSON.stringify(data)}`);
  return data as Data[];
}

export interface Answer {
  status: number;
  headers: Headers;
  code: string;
  message: string;
  data: Data;
  text: string;
}

export interface CallOptions {
  method?: string;
  /** null sends none. */
  key?: string | null;
  headers?: Record<string, string>;
  /** An object is sent as JSON; anything else as it is. */
  body?: unknown;
}

export interface StreamEvent {
  id: number;
  event: string;
  data: Data;
}

/** Talks to `/api/v1` as an integrator would. */
export class ApiClient {
  constructor(
    readonly url: string,
    readonly key = 'demo-key',
  ) {}

  /** `path` is below /api/v1, or a link from an answer. */
  fetch(path: string, { method, key = this.key, headers = {}, body }: CallOptions = {}): Promise<Response> {
    const target = path.startsWith('/api/v1') ? path : `/api/v1${path}`;
    const json = body !== undefined && typeof body === 'object' && !(body instanceof Uint8Array);
    const isForm = body instanceof FormData;
    return fetch(this.url + target, {
      method: method ?? (body === undefined ? 'GET' : 'POST'),
      headers: {
        ...(key === null ? {} : { 'x-api-key': key }),
        ...(json && !isForm ? { 'content-type': 'application/json' } : {}),
        ...headers,
      },
      body: json && !isForm ? JSON.stringify(body) : (body as string | Uint8Array | FormData | undefined),
    });
  }

  async call(path: string, options: CallOptions = {}): Promise<Answer> {
    const answer = await this.fetch(path, options);
    const body = await answer.text();
    const { code, message, data } = (body.startsWith('{') ? JSON.parse(body) : {}) as Answer;
    return { status: answer.status, headers: answer.headers, code, message, data, text: body };
  }

  post(path: string, body?: unknown, options: CallOptions = {}): Promise<Answer> {
    return this.call(path, { method: 'POST', body, ...options });
  }

  /** Reads a stream to its end, or until `until` holds for an event. */
  async stream(
    path: string,
    options: CallOptions & { until?: (event: StreamEvent) => boolean } = {},
  ): Promise<{ answer: Response; events: StreamEvent[] }> {
    const answer = await this.fetch(path, options);
    const events: StreamEvent[] = [];
    const reading = { enough: false };
    const parser = createParser({
      onEvent: ({ id, event, data }: EventSourceMessage) => {
        if (reading.enough) return;
        const parsed = {
          id: Number(id),
          event: event ?? '',
          data: JSON.parse(data) as Data,
        };
        events.push(parsed);
        reading.enough = options.until?.(parsed) ?? false;
      },
    });
    const decoder = new TextDecoder();
    for await (const chunk of answer.body ?? []) {
      parser.feed(decoder.decode(chunk as Uint8Array, { stream: true }));
      if (reading.enough) break;
    }
    return { answer, events };
  }
}

export interface Part {
  name: string;
  /** Goes in raw UTF-8, as browsers send it. */
  filename?: string;
  relativePath?: string;
  headers?: Record<string, string>;
  body?: string | Uint8Array;
}

/** A multipart body by hand. `end: false` leaves out the closing boundary. */
export function multipart(
  parts: readonly Part[],
  { end = true, boundary = `b${randomUUID()}` } = {},
): { headers: Record<string, string>; body: Uint8Array } {
  const chunks: Uint8Array[] = [];
  for (const { name, filename, relativePath, headers = {}, body = '' } of parts) {
    const file = filename === undefined ? '' : `; filename="${filename}"`;
    const lines = [
      `--${boundary}`,
      `Content-Disposition: form-data; name="${name}"${file}`,
      ...(relativePath === undefined ? [] : [`X-Relative-Path: ${relativePath}`]),
      ...Object.entries(headers).map(([key, value]) => `${key}: ${value}`),
    ];
    chunks.push(Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), Buffer.from(body), Buffer.from('\r\n'));
  }
  if (end) chunks.push(Buffer.from(`--${boundary}--\r\n`));
  return {
    headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
    body: new Uint8Array(Buffer.concat(chunks)),
  };
}
