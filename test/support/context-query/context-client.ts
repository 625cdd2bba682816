import { request, type IncomingHttpHeaders, type OutgoingHttpHeaders } from 'node:http';

export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
  /** The parsed body; null where it is no JSON. */
  json: { code: unknown; message: string; data: never } | null;
}

export interface RequestParts {
  method?: string;
  headers?: OutgoingHttpHeaders;
  /** An object goes as JSON. */
  body?: object | string | Buffer;
  /** The address to speak from. */
  localAddress?: string;
}

/** One request over a connection of its own, so that nothing stays open. */
export function send(
  url: string,
  { method = 'POST', headers, body, localAddress }: RequestParts = {},
): Promise<Answer> {
  const bytes =
    body === undefined || typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);
  const sent = Object.entries<OutgoingHttpHeaders[string]>({
    'Content-Type': 'application/json',
    ...headers,
  });
  return new Promise((resolve, reject) => {
    const outgoing = request(
      url,
      {
        method,
        agent: false,
        localAddress,
        headers: Object.fromEntries(sent.filter(([, value]) => value !== undefined)),
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString();
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text, json: parse(text) });
        });
      },
    );
    outgoing.on('error', reject);
    outgoing.end(bytes);
  });
}

function parse(text: string): Answer['json'] {
  try {
    return JSON.parse(text) as Answer['json'];
  } catch {
    return null;
  }
}
