/**
 * The npm package `eventsource` against the stream of a real run: a reader whose connection is cut after every single
 * event sees what an uninterrupted one sees, before, during and after the run, and after a restart of the server.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { EventSource, type FetchLike } from 'eventsource';
import { agent, chain, edge, input, node, output, when } from '../integration/engine/graphs.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { TestServer } from '../support/test-server.js';

const NAMES = ['run_started', 'node_status', 'node_stream', 'workflow_complete', 'workflow_error'];

interface Seen {
  readonly id: string;
  readonly event: string;
  readonly data: string;
}

/** Collects what an EventSource gives until it is told that there is nothing more (204), or `until` holds. */
class Listener {
  readonly seen: Seen[] = [];
  connections = 0;
  readonly closed: Promise<void>;
  readonly #source: EventSource;
  #watchers: { holds: (seen: Seen) => boolean; tell: () => void }[] = [];

  constructor(url: string, { cut = false, lastEventId }: { cut?: boolean; lastEventId?: number } = {}) {
    const fetchOnce: FetchLike = async (target, init) => {
      this.connections += 1;
      const headers = {
        ...init.headers,
        'X-API-Key': 'demo-key',
        // A page that was loaded anew knows its last event, but has a new EventSource.
        ...(this.connections === 1 && lastEventId !== undefined
          ? { 'Last-Event-ID': String(lastEventId) }
          : {}),
      };
      const response = await fetch(target, { ...init, headers });
      return {
        status: response.status,
        url: response.url,
        redirected: response.redirected,
        headers: response.headers,
        body: response.body && withoutPatience(response.body, cut),
      };
    };
    this.#source = new EventSource(url, { fetch: fetchOnce });
    for (const event of NAMES) {
      this.#source.addEventListener(event, ({ lastEventId: id, data }) => {
        const seen = { id, event, data: String(data) };
        this.seen.push(seen);
        for (const { holds, tell } of this.#watchers) if (holds(seen)) tell();
      });
    }
    this.closed = new Promise((resolve) => {
      this.#source.addEventListener('error', () => {
        if (this.#source.readyState === this.#source.CLOSED) resolve();
      });
    });
  }

  /** Resolves with the first event that satisfies, or has satisfied, `holds`. */
  async until(holds: (seen: Seen) => boolean): Promise<void> {
    if (this.seen.some(holds)) return;
    await new Promise<void>((tell) => this.#watchers.push({ holds, tell }));
  }

  close(): void {
    this.#source.close();
  }
}

/**
 * The stream with a reconnection time that tests can wait for, and, where it is cut, nothing after its first event:
 * the connection then ends as one that broke.
 */
function withoutPatience(body: ReadableStream<Uint8Array>, cut: boolean): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  const encoder = new TextEncoder();
  let text = '';
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      for (;;) {
        const end = text.indexOf('\n\n');
        if (end >= 0) {
          const block = text.slice(0, end + 2);
          text = text.slice(end + 2);
          controller.enqueue(encoder.encode(block.replace(/^retry: \d+$/m, 'retry: 1')));
          if (!cut || !/^data:/m.test(block)) return;
          await reader.cancel();
          controller.close();
          return;
        }
        const { done, value } = await reader.read();
        if (done) {
          controller.close();
          return;
        }
        text += decoder.decode(value, { stream: true });
      }
    },
    cancel: () => reader.cancel(),
  });
}

const graph = {
  nodes: [
    input({ name: 'topic', type: 'string', required: true }, { name: 'list', type: 'array', required: true }),
    agent('draft', {
      tools: ['write_file', 'list_files'],
      prompt: [
        '@think 想一想',
        '@todo ["one", "two"]',
        '@call write_file {"path":"稿.md","content":"\\r\\nline one\\nline two\\r"}',
        '@sleep 60',
        '@say first line',
        '@call list_files {"path":"."}',
        '@say %LAST%',
      ].join('\n'),
    }),
    node('each', 'iteration', {
      items: '{{ in.list }}',
      graph: chain(agent('tell', { prompt: '@say {{ item }}' }), output({ said: '{{ tell.text }}' }, 'done')),
    }),
    when('choose', [{ id: 'long', variable: 'in.topic', operator: 'equals', value: '长' }]),
    node('long', 'template', { template: 'long' }),
    node('short', 'template', { template: 'short' }),
    node('flaky', 'agent', {
      model: 'demo',
      prompt: '@flake 1 not yet\n@say at last',
      retry: { maxAttempts: 2, backoffSeconds: 0.05 },
    }),
    node('ask', 'humanInput', { message: 'ok?', fields: [{ name: 'ok', type: 'boolean', required: true }] }),
    node('pause', 'delay', { seconds: 0.1 }),
    output({ text: '{{ draft.text }}', ok: '{{ ask.ok }}', branch: '{{ long.text }}{{ short.text }}' }),
  ],
  edges: [
    edge('in', 'draft'),
    edge('in', 'choose'),
    edge('in', 'flaky'),
    edge('choose', 'long', 'long'),
    edge('choose', 'short', 'else'),
    edge('draft', 'each'),
    ...['each', 'long', 'short', 'flaky'].map((id) => edge(id, 'ask')),
    edge('ask', 'pause'),
    edge('pause', 'out'),
  ],
};

describe('resuming a stream after every event', () => {
  let database: TestDatabase;
  let directory: string;
  let server: TestServer;
  const start = (port = '0'): Promise<TestServer> =>
    TestServer.start({
      databaseUrl: database.url,
      dataDir: path.join(directory, 'data'),
      environment: { PORT: port, ENGINE_LEASE_SECONDS: '1', ENGINE_SWEEP_SECONDS: '0.2' },
    });
  beforeAll(async () => {
    database = await createTestDatabase();
    directory = await mkdtemp(path.join(tmpdir(), 'resume-'));
    server = await start();
    const workflow = { name: 'resumed', displayName: 'r', description: '', mode: 'DAG', settings: {} };
    const stored = await server.request('POST', '/admin/v1/workflows', {
      ...workflow,
      graphData: graph,
    });
    expect([stored.status, await stored.text()]).toEqual([201, expect.any(String)]);
  }, 90_000);
  afterAll(async () => {
    await server.stop();
    await database.close();
    await rm(directory, { recursive: true, force: true });
  });

  const data = async (answer: Promise<Response>): Promise<Record<string, unknown>> => {
    const response = await answer;
    const body = (await response.json()) as { data: Record<string, unknown>; message: string };
    if (!response.ok) throw new Error(`${response.status} ${body.message}`);
    return body.data;
  };
  const isWaiting = ({ data: text }: Seen): boolean =>
    text.includes('"status":"WAITING"') && text.includes('"ask"');

  it('gives a reader that is cut off again and again what an uninterrupted one gets', async () => {
    const variables = { topic: '长', list: ['甲', '乙'] };
    const { runId } = await data(server.request('POST', '/api/v1/workflows/resumed/runs', { variables }));
    const run = `/api/v1/workflows/resumed/runs/${String(runId)}`;
    const stream = (): string => `${server.url}${run}/stream`;

    // Before: both listen to a run that has not been started.
    const whole = new Listener(stream());
    const cut = new Listener(stream(), { cut: true });
    await data(server.request('POST', `${run}/start`));
    // During, and while it waits: a server that dies and comes back is only one more cut.
    await Promise.all([whole.until(isWaiting), cut.until(isWaiting)]);
    const before = whole.seen.length;
    const { port } = new URL(server.url);
    await server.kill9();
    await server.forget();
    server = await start(port);
    await data(server.request('POST', `${run}/nodes/ask/input`, { values: { ok: true } }));
    await Promise.all([whole.closed, cut.closed]);

    expect(whole.seen.map(({ id }) => id)).toEqual(whole.seen.map((_, at) => String(at + 1)));
    expect(whole.seen.at(-1)?.event).toBe('workflow_complete');
    expect(whole.seen.length).toBeGreaterThan(40);
    expect(whole.seen.length).toBeGreaterThan(before);
    expect(cut.seen).toEqual(whole.seen);
    expect(cut.connections).toBeGreaterThan(whole.seen.length);

    // After it, and after another restart.
    const after = async (): Promise<void> => {
      const again = new Listener(stream());
      const cutAgain = new Listener(stream(), { cut: true });
      await Promise.all([again.closed, cutAgain.closed]);
      expect(again.seen).toEqual(whole.seen);
      expect(cutAgain.seen).toEqual(whole.seen);
      await Promise.all(
        [...whole.seen.keys()].map(async (at) => {
          const byHeader = new Listener(stream(), { lastEventId: at });
          const byQuery = new Listener(`${stream()}?lastEventId=${at}`);
          await Promise.all([byHeader.closed, byQuery.closed]);
          expect(byHeader.seen).toEqual(whole.seen.slice(at));
          expect(byQuery.seen).toEqual(whole.seen.slice(at));
        }),
      );
      const none = new Listener(stream(), { lastEventId: whole.seen.length });
      await none.closed;
      expect([none.seen, none.connections]).toEqual([[], 1]);
    };
    await after();
    await server.stop();
    server = await start(port);
    await after();
  }, 120_000);
});
