import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { FromServer, ToServer } from './sse-protocol.js';

/** The least an SSE server can do: each event serialised once, written to every reader, stored nowhere. */
const readers = new Set<ServerResponse>();
const tell = (message: FromServer): void => void process.send?.(message);

const server = createServer((_request, response) => {
  response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-cache' });
  response.write('retry: 3000\n\n');
  readers.add(response);
  response.on('close', () => readers.delete(response));
});

function emit(eventsPerSecond: number, seconds: number): void {
  const startedAt = performance.now();
  let seq = 0;
  const timer = setInterval(() => {
    const due = Math.floor(((performance.now() - startedAt) / 1000) * eventsPerSecond);
    while (seq < Math.min(due, eventsPerSecond * seconds)) {
      seq += 1;
      // As long as an event of the product is.
      const data = JSON.stringify({ runId: 'a'.repeat(20), filler: 'x'.repeat(230), at: Date.now() });
      const frame = Buffer.from(`event: node_stream\nid: ${seq}\ndata: ${data}\n\n`);
      for (const reader of readers) reader.write(frame);
    }
    if (seq < eventsPerSecond * seconds) return;
    clearInterval(timer);
    for (const reader of readers) reader.end();
  }, 1);
}

server.listen(0, '127.0.0.1', () => tell({ kind: 'ready', port: (server.address() as AddressInfo).port }));
process.on('message', (message: ToServer) => {
  if (message.kind === 'open') tell({ kind: 'opened', path: '/' });
  else if (message.kind === 'emit') emit(message.eventsPerSecond, message.seconds);
  else if (message.kind === 'measure') {
    globalThis.gc?.();
    tell({ kind: 'measured', rss: process.memoryUsage().rss, readers: readers.size });
  } else process.exit(0);
});
