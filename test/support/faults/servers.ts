import { setTimeout as delay } from 'node:timers/promises';
import type { TestServer } from '../test-server.js';

const PATIENCE_MILLIS = 120_000;
const KEYS = { 'X-API-Key': 'demo-key', 'X-Admin-Key': 'demo-admin-key' };

/** One or several servers that come and go: what asks them waits until one is there. */
export abstract class Servers {
  /** Rises when a server is about to start after one was killed: what the dead one has done came before. */
  abstract readonly life: number;

  /** A server that runs now, or the next one that does. */
  abstract up(): Promise<TestServer>;

  /** Aborts when nothing more is to be expected of the server although its connections stay open. */
  abstract signalOf(server: TestServer): AbortSignal | undefined;

  /**
   * Asks until some server answers, as a client that was told to. `lost` counts the requests that got no answer, so
   * that nobody knows whether they were carried out.
   */
  async request(
    method: string,
    target: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<{ status: number; data: unknown; text: string; lost: number }> {
    const until = Date.now() + PATIENCE_MILLIS;
    for (let lost = 0; ; lost += 1) {
      const server = await this.up();
      try {
        const response = await fetch(`${server.url}${target}`, {
          method,
          headers: { ...KEYS, 'Content-Type': 'application/json', ...headers },
          body: body === undefined ? undefined : JSON.stringify(body),
          signal: this.signalOf(server),
        });
        const text = await response.text();
        // 503: it is stopping, or its database is just being started again.
        const { status } = response;
        if (status === 500) throw new Error(`${method} ${target}: ${text}\n${logOf(server, text)}`);
        if (status !== 503) return { status, data: dataIn(text), text, lost };
      } catch (error) {
        if (!isConnectionLost(error)) throw error;
      }
      if (Date.now() > until) throw new Error(`${method} ${target} was never answered`);
      await delay(20);
    }
  }
}

/** What fetch throws where a server dies. By its name: jest's own TypeError is another one than fetch's. */
export function isConnectionLost(error: unknown): boolean {
  const name = (error as { name?: unknown } | null)?.name;
  return name === 'TypeError' || name === 'AbortError';
}

/** What the server's log says about an answer that names a correlation id. */
function logOf(server: TestServer, answer: string): string {
  const id = /correlation id ([\w-]+)/.exec(answer)?.[1] ?? answer;
  const lines = server.logs().split('\n');
  return lines.filter((line) => line.includes(id)).join('\n');
}

function dataIn(text: string): unknown {
  return text.startsWith('{') ? (JSON.parse(text) as { data: unknown }).data : null;
}
