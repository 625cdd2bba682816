import net from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';

/** Sends one POST after the other on each of so many connections; a thread of its own. */
export interface PostPlan {
  port: number;
  path: string;
  connections: number;
  seconds: number;
}

export interface PostResult {
  requests: number;
  failures: number;
  /** Milliseconds, ascending. */
  latencies: number[];
}

const { port, path, connections, seconds } = workerData as PostPlan;
const body = JSON.stringify({ variables: { topic: '大语言模型在企业中的应用' }, ttlHours: 24 });
const request = Buffer.from(
  `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nX-API-Key: demo-key\r\nContent-Type: application/json\r\n` +
    `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
);
const result: PostResult = { requests: 0, failures: 0, latencies: [] };
const until = performance.now() + seconds * 1000;
let open = connections;

function finish(): void {
  open -= 1;
  if (open > 0) return;
  result.latencies.sort((a, b) => a - b);
  parentPort?.postMessage(result);
}

for (let one = 0; one < connections; one += 1) {
  let sentAt = 0;
  let received = '';
  const socket = net.connect(port, '127.0.0.1');
  socket.setNoDelay(true);
  const send = (): void => {
    received = '';
    sentAt = performance.now();
    socket.write(request);
  };
  socket.setEncoding('latin1');
  socket.on('connect', send);
  socket.on('error', () => (result.failures += 1));
  socket.on('close', finish);
  socket.on('data', (chunk: string) => {
    received += chunk;
    const head = received.indexOf('\r\n\r\n');
    const length = Number(/content-length: (\d+)/i.exec(received)?.[1] ?? NaN);
    if (head === -1 || received.length < head + 4 + length) return;
    if (received.startsWith('HTTP/1.1 201')) {
      result.requests += 1;
      result.latencies.push(performance.now() - sentAt);
    } else result.failures += 1;
    if (performance.now() < until) send();
    else socket.destroy();
  });
}
