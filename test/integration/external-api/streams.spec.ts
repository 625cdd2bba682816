import { request as httpRequest, type IncomingMessage, type Server } from 'node:http';
import type { Socket } from 'node:net';
import { EventSource } from 'eventsource';
import fc from 'fast-check';
import { StreamRunEvents } from '../../../src/external-api/stream/stream-run-events.js';
import type { AgentRuntimeEvent } from '../../../src/runtime-adapters/protocol/agent-runtime-event.js';
import type { WorkflowDefinition } from '../../../src/workflows/index.js';
import { ApiApp } from '../../support/external-api/api-app.js';
import { ApiClient, text, type StreamEvent } from '../../support/external-api/api-client.js';
import { says, untilAborted } from '../../support/engine/scripted-runtime.js';
import { createTestDatabase, type TestDatabase } from '../../support/test-database.js';
import { agent, chain, input, output } from '../engine/graphs.js';

const HEARTBEATS = { EXTERNAL_API_SSE_HEARTBEAT_SECONDS: '0.05' };

/** Agents that speak when they are told to. */
class Gate {
  readonly open: Promise<void>;
  release!: () => void;
  constructor() {
    this.open = new Promise((resolve) => (this.release = resolve));
  }
}

function call(at: number, size = 10): AgentRuntimeEvent {
  return { type: 'runtime.tool_call', callId: `c${at}`, tool: 'search', args: 'x'.repeat(size) };
}

describe('the event stream', () => {
  let database: TestDatabase;
  let api: ApiApp;
  let client: ApiClient;
  let workflow: WorkflowDefinition;

  beforeAll(async () => {
    database = await createTestDatabase();
    api = await ApiApp.start(database, { env: HEARTBEATS });
    client = new ApiClient(api.url);
    workflow = await api.test.workflow(
      chain(input(), agent('first'), agent('second'), output({ text: '{{ second.text }}' })),
    );
  });
  afterAll(async () => {
    await api.close();
    await database.close();
  });
  beforeEach(() => api.test.runtime.scripts.clear());

  interface Run {
    runId: string;
    start: string;
    stream: string;
    result: string;
  }
  const create = async (): Promise<Run> => {
    const { data } = await client.post(`/workflows/${workflow.name}/runs`, {});
    const { start, stream, result } = data.links as unknown as Run;
    return { runId: text(data.runId), start, stream, result };
  };
  const runToEnd = async (): Promise<{ run: Run; events: StreamEvent[] }> => {
    const run = await create();
    await client.post(run.start);
    return { run, events: (await client.stream(run.stream)).events };
  };
  /** Emits `count` events, then waits for the gate. */
  const chatty = (count: number, gate?: Gate, size?: number): void => {
    api.test.runtime.on('first', async function* () {
      for (let at = 0; at < count; at += 1) yield call(at, size);
      await gate?.open;
      yield says('done');
    } as never);
  };
  const readers = (of: ApiApp = api) => of.app.get(StreamRunEvents).readers;
  const until = async (holds: () => boolean | Promise<boolean>): Promise<void> => {
    while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 5));
  };
  const ids = (events: StreamEvent[]) => events.map(({ id }) => id);

  it('opens before the run has started, keeps alive, and goes on when it starts', async () => {
    const run = await create();
    const answer = await client.fetch(run.stream, { headers: { 'accept-encoding': 'gzip, deflate, br' } });
    expect(answer.status).toBe(200);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'text/event-stream',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
    });
    expect(answer.headers.get('content-encoding')).toBeNull();
    const reader = (answer.body as ReadableStream<Uint8Array>).getReader();
    let received = '';
    const more = async (): Promise<boolean> => {
      const { done, value } = await reader.read();
      received += Buffer.from(value ?? []).toString();
      return !done;
    };
    while (received.split(': heartbeat').length < 4) await more();
    expect(received).toMatch(/^retry: 3000\n\n(: heartbeat\n\n)+$/);
    await client.post(run.start);
    while (await more());
    expect(received).toMatch(/event: workflow_complete\nid: \d+\ndata: .+\n\n$/);
  });

  it('gives a reader of a finished run everything and ends, in this and in another server', async () => {
    const { run, events } = await runToEnd();
    expect((await client.stream(run.stream)).events).toEqual(events);
    const other = await ApiApp.start(database, { owner: 'other' });
    try {
      expect((await new ApiClient(other.url).stream(run.stream)).events).toEqual(events);
    } finally {
      await other.close();
    }
  });

  it('shows the final state to whoever reads the result right after the last event', async () => {
    for (let round = 0; round < 10; round += 1) {
      const run = await create();
      await client.post(run.start);
      await client.stream(run.stream, { until: ({ event }) => event === 'workflow_complete' });
      expect((await client.call(run.result)).data).toMatchObject({
        status: 'SUCCESS',
        outputs: { _runId: run.runId },
      });
    }
  });

  it('begins after Last-Event-ID; the header wins over the query', async () => {
    const { run, events } = await runToEnd();
    const from = (lastEventId: string, query = '') =>
      client.stream(run.stream + query, { headers: { 'last-event-id': lastEventId } });
    expect((await from('3')).events).toEqual(events.slice(3));
    expect((await from('0')).events).toEqual(events);
    expect((await from('3', '?lastEventId=1')).events).toEqual(events.slice(3));
    expect((await client.stream(`${run.stream}?lastEventId=2`)).events).toEqual(events.slice(2));
  });

  it.each(['abc', '-1', '1.5', '0x1', '1e1', ' ', '1, 2'])('refuses the Last-Event-ID %j', async (id) => {
    const { run } = await runToEnd();
    const answer = await client.call(`${run.stream}?lastEventId=${encodeURIComponent(id)}`);
    expect([answer.status, answer.code]).toEqual([400, 'VALIDATION_FAILED']);
  });

  it('tells an EventSource to stop at the end of a finished run, and refuses an id beyond a run that goes on', async () => {
    const { run, events } = await runToEnd();
    for (const id of [events.length, events.length + 1, '99999999999999999999']) {
      const answer = await client.call(`${run.stream}?lastEventId=${id}`);
      expect([answer.status, answer.text]).toEqual([204, '']);
    }
    const waiting = await create();
    const answer = await client.call(`${waiting.stream}?lastEventId=1`);
    expect([answer.status, answer.code]).toEqual([400, 'VALIDATION_FAILED']);
  });

  it('gives each of several readers everything', async () => {
    const gate = new Gate();
    chatty(50, gate);
    const run = await create();
    const reading = Array.from({ length: 5 }, () => client.stream(run.stream));
    await client.post(run.start);
    reading.push(client.stream(run.stream));
    gate.release();
    const [first, ...others] = await Promise.all(reading);
    expect(first?.events.length).toBeGreaterThan(50);
    for (const { events } of others) expect(events).toEqual(first?.events);
  });

  it('replays at any cut points what an uninterrupted reader sees', async () => {
    const gate = new Gate();
    chatty(40, gate);
    const { run, events } = await (async () => {
      const made = await create();
      await client.post(made.start);
      gate.release();
      return { run: made, events: (await client.stream(made.stream)).events };
    })();
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 1, max: events.length }), { maxLength: 6 }),
        async (cuts) => {
          const seen: StreamEvent[] = [];
          for (const cut of [...cuts].sort((a, b) => a - b)) {
            const last = seen.at(-1)?.id ?? 0;
            if (cut <= last) continue;
            const { events: part } = await client.stream(run.stream, {
              headers: { 'last-event-id': String(last) },
              until: ({ id }) => id === cut,
            });
            seen.push(...part);
          }
          const last = seen.at(-1)?.id ?? 0;
          if (last < events.length) {
            const rest = await client.stream(run.stream, { headers: { 'last-event-id': String(last) } });
            seen.push(...rest.events);
          }
          expect(seen).toEqual(events);
        },
      ),
      { numRuns: 25 },
    );
  });

  it('serves the eventsource package: cut at every event it resumes, and after the end it stops', async () => {
    const { run, events } = await runToEnd();
    const open = (lastEventId: string): EventSource =>
      new EventSource(api.url + run.stream, {
        fetch: (url, init) => {
          const headers = { 'last-event-id': lastEventId, ...init.headers, 'x-api-key': 'demo-key' };
          return fetch(url, { ...init, headers });
        },
      });
    const next = (source: EventSource): Promise<{ id: string; type: string; data: string }> =>
      new Promise((resolve) => {
        for (const type of ['run_started', 'node_status', 'node_stream', 'workflow_complete']) {
          source.addEventListener(type, ({ lastEventId, data }) =>
            resolve({ id: lastEventId, type, data: data as string }),
          );
        }
      });
    const seen: StreamEvent[] = [];
    let last = '0';
    while (seen.length < events.length) {
      const source = open(last);
      const { id, type, data } = await next(source);
      source.close();
      last = id;
      seen.push({ id: Number(id), event: type, data: JSON.parse(data) as StreamEvent['data'] });
    }
    expect(seen).toEqual(events);
    const source = open(last);
    const refused = await new Promise<{ code?: number }>((resolve) =>
      source.addEventListener('error', resolve),
    );
    expect([refused.code, source.readyState]).toEqual([204, EventSource.CLOSED]);
  });

  it('follows a run that another server executes', async () => {
    const other = await ApiApp.start(database, { owner: 'other' });
    try {
      const gate = new Gate();
      chatty(20, gate);
      const run = await create();
      const reading = new ApiClient(other.url).stream(run.stream);
      await client.post(run.start);
      gate.release();
      const { events } = await reading;
      expect(events).toEqual((await client.stream(run.stream)).events);
    } finally {
      await other.close();
    }
  });

  it('buffers nothing for a reader that does not read, and loses nothing', async () => {
    const gate = new Gate();
    chatty(1500, gate, 10_000);
    const sockets = new Set<Socket>();
    const server: Server = api.app.getHttpServer();
    const remember = (socket: Socket) => sockets.add(socket);
    server.on('connection', remember);
    const run = await create();
    const stalled = await new Promise<IncomingMessage>((resolve, reject) => {
      const outgoing = httpRequest(api.url + run.stream, {
        agent: false,
        headers: { 'x-api-key': 'demo-key' },
      });
      outgoing.on('error', reject);
      outgoing.on('response', resolve);
      outgoing.end();
    });
    await client.post(run.start);
    gate.release();
    const { events } = await client.stream(run.stream);
    const buffered = [...sockets].map((socket) => socket.writableLength);
    expect(Math.max(...buffered)).toBeLessThan(1_000_000);
    expect(Math.max(...buffered)).toBeGreaterThan(0);
    let received = '';
    for await (const chunk of stalled as AsyncIterable<Buffer>) received += chunk.toString();
    server.off('connection', remember);
    expect([...received.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id))).toEqual(ids(events));
  });

  it('survives readers that leave at any moment, and forgets them', async () => {
    const gate = new Gate();
    chatty(200, gate);
    const run = await create();
    await client.post(run.start);
    await Promise.all(
      Array.from({ length: 40 }, async (_, at) => {
        const abort = new AbortController();
        const reading = fetch(api.url + run.stream, {
          headers: { 'x-api-key': 'demo-key' },
          signal: abort.signal,
        })
          .then((answer) => answer.text())
          .catch(() => 'left');
        await new Promise((resolve) => setTimeout(resolve, at % 10));
        abort.abort();
        expect(await reading).toBe('left');
      }),
    );
    await until(() => readers() === 0);
    gate.release();
    expect((await client.stream(run.stream)).events.at(-1)?.event).toBe('workflow_complete');
  });

  it('answers other requests while many readers are far behind', async () => {
    const gate = new Gate();
    chatty(300, gate, 5_000);
    gate.release();
    const { run } = await runToEnd();
    // More readers than connections to the database, none of which reads.
    const stalled = await Promise.all(Array.from({ length: 60 }, () => client.fetch(run.stream)));
    expect((await client.call(run.result)).data.status).toBe('SUCCESS');
    for (const answer of stalled) await answer.body?.cancel();
    await until(() => readers() === 0);
  });

  it('answers HEAD with the headers alone, also of a run that goes on', async () => {
    const run = await create();
    const answer = await client.fetch(run.stream, { method: 'HEAD' });
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
    expect(await answer.text()).toBe('');
    expect(readers()).toBe(0);
  });

  it('ends open streams when the server stops', async () => {
    const stopping = await ApiApp.start(database, { owner: 'stopping' });
    stopping.test.runtime.on('first', (_, signal) => untilAborted(signal));
    const there = new ApiClient(stopping.url);
    const { data } = await there.post(`/workflows/${workflow.name}/runs`, {});
    const reading = there.stream(text(data.links?.stream));
    await until(() => readers(stopping) === 1);
    await stopping.close();
    expect((await reading).events).toEqual([]);
  });
});
