import net from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';

/** Opens readers over plain sockets and takes the time of every event; a thread of its own. */
export interface ReadersPlan {
  port: number;
  path: string;
  readers: number;
}

export interface ReadersResult {
  delivered: number;
  /** Milliseconds from the first event to the last. */
  millis: number;
  /** From an event's making to its arrival, in ms, ascending; one of ten events. */
  lags: number[];
}

const { port, path, readers } = workerData as ReadersPlan;
const MARK = Buffer.from('"at');
let open = 0;
let ended = 0;
let delivered = 0;
let first = 0;
let last = 0;
const lags: number[] = [];

function connect(): void {
  const socket = net.connect(port, '127.0.0.1', () =>
    socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nX-API-Key: demo-key\r\nConnection: close\r\n\r\n`),
  );
  let begun = false;
  let rest: Buffer = Buffer.alloc(0);
  socket.on('data', (chunk) => {
    if (!begun && chunk.includes('retry: 3000')) {
      begun = true;
      open += 1;
      if (open === readers) parentPort?.postMessage('open');
    }
    const now = Date.now();
    const bytes = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk;
    let from = 0;
    for (;;) {
      const found = bytes.indexOf(MARK, from);
      // The time may still be on its way.
      if (found === -1 || found + 24 > bytes.length) break;
      from = found + MARK.length;
      const match = /^\\?":\s*(\d{13})/.exec(bytes.toString('latin1', from, from + 21));
      if (!match) continue;
      delivered += 1;
      if (first === 0) first = now;
      last = now;
      if (delivered % 10 === 0) lags.push(now - Number(match[1]));
    }
    const keep = Math.max(from, bytes.length - 24);
    rest = Buffer.from(bytes.subarray(keep));
  });
  socket.on('error', () => undefined);
  socket.on('close', () => {
    ended += 1;
    if (ended < readers) return;
    const result: ReadersResult = { delivered, millis: last - first, lags: lags.sort((a, b) => a - b) };
    parentPort?.postMessage(result);
  });
}

// In batches, so that no listen queue overflows.
for (let at = 0; at < readers; at += 50) {
  setTimeout(() => {
    for (let one = 0; one < Math.min(50, readers - at); one += 1) connect();
  }, at * 2);
}
