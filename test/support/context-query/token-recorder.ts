import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { BridgeRunRequest } from '../../../src/bridge/protocol.js';

export interface TokenRecorder {
  readonly url: string;
  /** Every context token that went to the bridge. */
  readonly tokens: ReadonlySet<string>;
  close(): Promise<void>;
}

/** Stands between a server and its bridge, and notes the tokens that pass by. */
export async function startTokenRecorder(bridgeUrl: string): Promise<TokenRecorder> {
  const tokens = new Set<string>();
  const server = createServer((incoming, outgoing) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => {
      const body = Buffer.concat(chunks);
      if (incoming.method === 'POST') {
        const { context_query: query } = JSON.parse(body.toString()) as BridgeRunRequest;
        if (query) tokens.add(query.token);
      }
      const { method, headers, url = '/' } = incoming;
      const passed = request(`${bridgeUrl}${url}`, { method, headers, agent: false }, (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(outgoing);
      });
      outgoing.on('close', () => passed.destroy());
      passed.on('error', () => outgoing.destroy());
      passed.end(body);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    tokens,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
