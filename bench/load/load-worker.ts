import { Agent, request } from 'node:http';
import { parentPort, workerData } from 'node:worker_threads';
import type { LoadPlan, LoadResult, PlannedRequest } from './load-plan.js';

/** A load generator on a thread of its own, so that it does not share the server's event loop. */
const { url, requests, requestsPerSecond, seconds } = workerData as LoadPlan;
const agent = new Agent({ keepAlive: true, maxSockets: 64 });
const latencies: number[] = [];
let failures = 0;
let bytes = 0;

function send({ headers, body }: PlannedRequest): Promise<void> {
  const sentAt = performance.now();
  return new Promise((resolve) => {
    const fail = (): void => {
      failures += 1;
      resolve();
    };
    const outgoing = request(url, { method: 'POST', agent, headers }, (response) => {
      response.on('data', (chunk: Buffer) => (bytes += chunk.length));
      response.on('error', fail);
      response.on('end', () => {
        if (response.statusCode !== 200) return fail();
        latencies.push(performance.now() - sentAt);
        resolve();
      });
    });
    outgoing.on('error', fail);
    outgoing.end(body);
  });
}

const pending: Promise<void>[] = [];
const startedAt = performance.now();
const total = Math.round(requestsPerSecond * seconds);
await new Promise<void>((resolve) => {
  const timer = setInterval(() => {
    const due = Math.min(total, ((performance.now() - startedAt) / 1000) * requestsPerSecond);
    while (pending.length < due) {
      const next = requests[pending.length % requests.length];
      if (next) pending.push(send(next));
    }
    if (pending.length < total) return;
    clearInterval(timer);
    resolve();
  }, 1);
});
await Promise.all(pending);
agent.destroy();
const result: LoadResult = {
  latencies: latencies.sort((a, b) => a - b),
  failures,
  answerBytes: Math.round(bytes / Math.max(1, latencies.length)),
};
parentPort?.postMessage(result);
