import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface StubRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The body as JSON; undefined when it is none. */
  readonly json: unknown;
}

export type StubAnswer = (request: StubRequest, response: ServerResponse, count: number) => void;

export interface StubServer {
  readonly url: string;
  /** What it was asked, in order. */
  readonly requests: StubRequest[];
  /** How it answers from now on. `count` is 1 for the first request after this. */
  answer(how: StubAnswer): void;
  close(): Promise<void>;
}

/** An HTTP server on loopback that answers as a test says. */
export async function startStub(how: StubAnswer): Promise<StubServer> {
  let current = how;
  let count = 0;
  const requests: StubRequest[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString('utf8');
      const { method = '', url: path = '', headers } = request;
      const received = { method, path, headers, text, json: parsed(text) };
      requests.push(received);
      count += 1;
      current(received, response, count);
    });
    request.on('error', () => undefined);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    answer(next) {
      current = next;
      count = 0;
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
