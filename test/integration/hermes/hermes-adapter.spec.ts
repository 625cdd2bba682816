import type { ServerResponse } from 'node:http';
import { SecretRedactor } from '../../../src/credentials/index.js';
import { bridgeHealth } from '../../../src/runtime-adapters/hermes/bridge-health.js';
import { ExternalBridge } from '../../../src/runtime-adapters/hermes/external-bridge.js';
import { HermesAdapter } from '../../../src/runtime-adapters/hermes/hermes-adapter.js';
import type { AgentRuntimeEvent } from '../../../src/runtime-adapters/protocol/agent-runtime-event.js';
import type { AgentRuntimeRequest } from '../../../src/runtime-adapters/protocol/agent-runtime-request.js';
import type { AgentRuntimeResponse } from '../../../src/runtime-adapters/protocol/agent-runtime-response.js';
import { runtimeRequest } from '../../support/bridge/runtime-request.js';
import { startStub, type StubServer } from '../../support/bridge/stub-server.js';
import {
  eventually,
  supervisedBridge,
  type SupervisedBridge,
} from '../../support/bridge/supervised-bridge.js';

const never = new AbortController().signal;

async function eventsOf(
  adapter: HermesAdapter,
  request: AgentRuntimeRequest,
  signal: AbortSignal = new AbortController().signal,
): Promise<AgentRuntimeEvent[]> {
  const events: AgentRuntimeEvent[] = [];
  for await (const event of adapter.execute(request, signal)) events.push(event);
  return events;
}

function responseOf(events: readonly AgentRuntimeEvent[]): AgentRuntimeResponse {
  const ends = events.filter((event) => 'response' in event);
  expect(ends).toHaveLength(1);
  expect(events.at(-1)).toBe(ends[0]);
  return (ends[0] as { response: AgentRuntimeResponse }).response;
}

describe('the hermes adapter with a managed bridge', () => {
  let bridge: SupervisedBridge;
  let adapter: HermesAdapter;
  beforeAll(async () => {
    bridge = await supervisedBridge();
    bridge.supervisor.start();
    adapter = new HermesAdapter({
      bridge: bridge.supervisor,
      redactor: new SecretRedactor(),
      allowDemo: true,
    });
  });
  afterAll(() => bridge.supervisor.stop());

  it('turns the events of the bridge into those of the protocol', async () => {
    const lines =
      '@think hm\n@todo ["a"]\n@call list_files {"path":"no-such-folder"}\n@say one\n@json {"n":1}';
    const events = await eventsOf(adapter, runtimeRequest(lines, { bench: { tools: ['list_files'] } }));
    expect(events.map(({ type }) => type)).toEqual([
      'runtime.started',
      'runtime.delta',
      'runtime.todo',
      'runtime.tool_call',
      'runtime.tool_result',
      'runtime.delta',
      'runtime.delta',
      // The usage, which comes with the answer.
      'runtime.heartbeat',
      'runtime.completed',
    ]);
    expect(events[1]).toEqual({ type: 'runtime.delta', channel: 'thinking', text: 'hm' });
    expect(events[4]).toMatchObject({
      tool: 'list_files',
      result: null,
      error: 'no-such-folder does not exist',
    });
    expect(responseOf(events)).toMatchObject({
      status: 'succeeded',
      output: { text: 'one\n{"n":1}', data: { n: 1 } },
      provider: 'hermes',
      providerRequestId: null,
      finishReason: 'stop',
      failure: null,
      usage: {
        promptTokens: expect.any(Number) as number,
        totalTokens: expect.any(Number) as number,
        durationMs: expect.any(Number) as number,
      },
    });
  });

  it('reports failures as the bridge normalised them', async () => {
    const failed = responseOf(await eventsOf(adapter, runtimeRequest('@fail 模型坏了')));
    const flaky = responseOf(await eventsOf(adapter, runtimeRequest('@flake 1 later')));
    expect(failed).toMatchObject({
      status: 'failed',
      failure: { type: 'provider_run_failed', message: '模型坏了', retryable: false },
    });
    expect(flaky).toMatchObject({
      status: 'retryable_failed',
      failure: { type: 'provider_5xx', retryable: true },
    });
  });

  it('stops the work when the caller gives up, and says cancelled', async () => {
    const caller = new AbortController();
    const events: AgentRuntimeEvent[] = [];
    for await (const event of adapter.execute(runtimeRequest('@say begun\n@sleep 60000'), caller.signal)) {
      events.push(event);
      if (event.type === 'runtime.delta') caller.abort();
    }
    expect(responseOf(events)).toMatchObject({
      status: 'cancelled',
      finishReason: 'cancelled',
      failure: null,
    });
    await nothingRuns();
  });

  it('stops the work when the caller stops reading', async () => {
    for await (const event of adapter.execute(runtimeRequest('@say begun\n@sleep 60000'), never)) {
      if (event.type === 'runtime.delta') break;
    }
    await nothingRuns();
  });

  async function nothingRuns(): Promise<void> {
    const endpoint = await bridge.supervisor.endpoint(never);
    await eventually('nothing runs', async () => (await bridgeHealth(endpoint, 1_000))?.active === 0);
  }

  it('fails at the deadline', async () => {
    const request = runtimeRequest('@sleep 60000', { timeoutPolicy: { totalSeconds: 0.2, idleSeconds: 30 } });
    expect(responseOf(await eventsOf(adapter, request)).failure).toMatchObject({
      type: 'network_timeout',
      retryable: true,
    });
  });

  it('reports a crash of the bridge in mid-call as retryable; the next call works', async () => {
    const events: AgentRuntimeEvent[] = [];
    for await (const event of adapter.execute(runtimeRequest('@say begun\n@sleep 60000'), never)) {
      events.push(event);
      if (event.type === 'runtime.delta') process.kill(bridge.supervisor.pid ?? 0, 'SIGKILL');
    }
    expect(responseOf(events)).toMatchObject({
      status: 'retryable_failed',
      failure: { type: 'connect_failed', code: 'bridge_lost', retryable: true },
    });
    expect(responseOf(await eventsOf(adapter, runtimeRequest('@say fine'))).output?.text).toBe('fine');
  });

  it('lets the planner know which answer is wanted', async () => {
    const plan = (planIndex: number): Promise<AgentRuntimeEvent[]> =>
      eventsOf(
        adapter,
        runtimeRequest('@plan a\n@plan b', {
          outputContract: { type: 'json', schema: { type: 'object' } },
          bench: { nodeId: 'planner', planIndex },
        }),
      );
    expect(responseOf(await plan(1)).output?.data).toEqual({
      next: [{ nodeId: 'b', reason: '@plan' }],
      finish: false,
    });
  });

  it('needs a configured endpoint for other models', async () => {
    bridge.settings = { ...bridge.settings, llmProblem: 'hermes.llm.base-url is not set' };
    const { failure } = responseOf(await eventsOf(adapter, runtimeRequest('x', { model: 'gpt-x' })));
    expect(failure).toMatchObject({
      type: 'runtime_unavailable',
      message: 'hermes.llm.base-url is not set',
      retryable: false,
    });
  });

  it('refuses the demo model in production, without asking the bridge', async () => {
    const strict = new HermesAdapter({
      bridge: bridge.supervisor,
      redactor: new SecretRedactor(),
      allowDemo: false,
    });
    const events = await eventsOf(strict, runtimeRequest('@say x'));
    expect(events).toHaveLength(1);
    expect(responseOf(events).failure).toMatchObject({ type: 'runtime_unavailable', code: 'demo_refused' });
  });

  it('carries many calls at the same time', async () => {
    const calls = Array.from({ length: 100 }, (_, at) =>
      eventsOf(adapter, runtimeRequest(`@sleep 50\n@say ${at}`)),
    );
    const texts = (await Promise.all(calls)).map((events) => responseOf(events).output?.text);
    expect(texts).toEqual(Array.from({ length: 100 }, (_, at) => String(at)));
  });

  it('waits for the end of its caller when its own server stops', async () => {
    const stopping = await supervisedBridge();
    stopping.supervisor.start();
    const other = new HermesAdapter({
      bridge: stopping.supervisor,
      redactor: new SecretRedactor(),
      allowDemo: true,
    });
    const caller = new AbortController();
    const events: AgentRuntimeEvent[] = [];
    for await (const event of other.execute(runtimeRequest('@say begun\n@sleep 60000'), caller.signal)) {
      events.push(event);
      if (event.type === 'runtime.delta') void stopping.supervisor.stop().then(() => caller.abort());
    }
    expect(responseOf(events).status).toBe('cancelled');
  });
});

describe('the hermes adapter with an external bridge', () => {
  const SECRET = 'external-canary-secret';
  let stub: StubServer;
  let adapter: HermesAdapter;
  beforeAll(async () => {
    stub = await startStub((_request, response) => response.end());
    const redactor = new SecretRedactor();
    redactor.register('credentials.bridge', SECRET);
    const bridge = new ExternalBridge({ url: `${stub.url}/`, secret: () => Promise.resolve(SECRET) });
    adapter = new HermesAdapter({ bridge, redactor, allowDemo: true });
  });
  afterAll(() => stub.close());
  beforeEach(() => stub.requests.splice(0));

  const sse = (response: ServerResponse, text: string): void => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(text);
  };
  const RESULT = 'event: result\ndata: {"text":"fine","data":null}\n\n';
  const failureOf = async (request = runtimeRequest('x')): Promise<AgentRuntimeResponse['failure']> =>
    responseOf(await eventsOf(adapter, request)).failure;

  it('sends the body of the protocol and the bearer token', async () => {
    stub.answer((_request, response) => sse(response, RESULT));
    const contextQuery = {
      base_url: 'http://127.0.0.1:1',
      token: 't'.repeat(48),
      run_id: 'run-1',
      visit_uuid: 'visit-1',
    };
    const predecessors = [{ nodeId: 'research', label: '研究员' }];
    const request = runtimeRequest('写', {
      model: 'm',
      outputContract: { type: 'json', schema: { type: 'object', required: ['a'] } },
      bench: { tools: ['read_file'], contextQuery, predecessors, attempt: 2 },
    });
    await eventsOf(adapter, request);
    await eventsOf(adapter, runtimeRequest('写', { bench: { predecessors } }));
    const [withContext, without] = stub.requests.map(({ json }) => json as Record<string, unknown>);
    expect(stub.requests[0]?.headers.authorization).toBe(`Bearer ${SECRET}`);
    expect(stub.requests[0]?.path).toBe('/run');
    expect(withContext).toMatchObject({
      run_id: 'run-1',
      visit_uuid: 'visit-1',
      node_id: 'writer',
      model: 'm',
      prompt: expect.stringMatching(/^写/) as string,
      tools: ['read_file'],
      workspace_dir: '/tmp',
      output_schema: { type: 'object', required: ['a'] },
      timeout_seconds: 30,
      attempt: 2,
      context_query: contextQuery,
    });
    expect(withContext?.['instructions']).toMatch(
      /^Be brief\n\n[\s\S]*get_node_output[\s\S]*research \(研究员\)/,
    );
    expect(without).not.toHaveProperty('context_query');
    expect(without?.['instructions']).toBe('Be brief');
  });

  it('is read although every frame is split at every byte, and passes over what it does not know', async () => {
    const text = `: hi\r\n\r\nevent: news\ndata: {"x":1}\n\nevent: thinking\ndata: {"text":"想😀"}\n\n${RESULT}`;
    stub.answer((_request, response) => {
      void (async () => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        for (const byte of Buffer.from(text)) {
          response.write(Buffer.from([byte]));
          await new Promise((resolve) => setImmediate(resolve));
        }
        response.end();
      })();
    });
    const events = await eventsOf(adapter, runtimeRequest('x'));
    expect(events).toContainEqual({ type: 'runtime.delta', channel: 'thinking', text: '想😀' });
    expect(events.some(({ type }) => type === 'runtime.heartbeat')).toBe(true);
    expect(responseOf(events).output?.text).toBe('fine');
  });

  it('reports each comment as a sign of life', async () => {
    stub.answer((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(': heartbeat\n\n');
      setTimeout(() => response.end(RESULT), 30);
    });
    const events = await eventsOf(adapter, runtimeRequest('x'));
    expect(events.map(({ type }) => type)).toEqual([
      'runtime.started',
      'runtime.heartbeat',
      'runtime.completed',
    ]);
  });

  // A token outlives its time to live by any event of the bridge (decision 23), not only by those that show something.
  it.each([
    ['usage', 'usage', { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }],
    ['thinking without a word', 'thinking', { text: '' }],
    ['text that is kept back as what may become a secret', 'text', { text: SECRET.slice(0, 3) }],
    ['an event it does not know', 'news', {}],
  ])('reports %s as a sign of life', async (_what, event, data) => {
    let end = (): void => undefined;
    stub.answer((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
      end = () => response.end(RESULT);
    });
    const seen: string[] = [];
    for await (const { type } of adapter.execute(runtimeRequest('x'), new AbortController().signal)) {
      seen.push(type);
      // The bridge says nothing more before the sign has been seen.
      if (type === 'runtime.heartbeat') end();
      if (seen.length > 20) break;
    }
    expect(seen.slice(0, 2)).toEqual(['runtime.started', 'runtime.heartbeat']);
    expect(seen.at(-1)).toBe('runtime.completed');
  });

  it('believes the first end only', async () => {
    stub.answer((_request, response) =>
      sse(response, `${RESULT}event: error\ndata: {"code":"x","message":"late"}\n\n`),
    );
    expect(responseOf(await eventsOf(adapter, runtimeRequest('x'))).status).toBe('succeeded');
  });

  it.each([
    [401, 'auth_failed', false],
    [400, 'provider_bad_request', false],
    [404, 'provider_bad_request', false],
    [429, 'rate_limited', true],
    [500, 'provider_5xx', true],
    [302, 'provider_bad_response', false],
  ])('may refuse with %i: %s', async (status, type, retryable) => {
    stub.answer((_request, response) => {
      response.writeHead(status, { 'content-type': 'application/json', location: 'http://127.0.0.1:1/' });
      response.end(JSON.stringify({ error: { code: 'why', message: `because of ${SECRET}` } }));
    });
    const failure = await failureOf();
    expect(failure).toMatchObject({ type, httpStatus: status, retryable });
    expect(JSON.stringify(failure)).not.toContain(SECRET);
  });

  it.each([
    ['HTML', '<html></html>', 'provider_bad_response', null],
    ['JSON', '{"text":"x"}', 'provider_bad_response', null],
    ['nothing', '', 'connect_failed', 'bridge_lost'],
    ['no end', 'event: text\ndata: {"text":"x"}\n\n', 'connect_failed', 'bridge_lost'],
    ['half an end', 'event: result\ndata: {"text":"x', 'connect_failed', 'bridge_lost'],
    ['a broken payload', 'event: text\ndata: {broken\n\n', 'provider_bad_response', 'malformed_event'],
    ['a wrong payload', 'event: result\ndata: {"data":5}\n\n', 'provider_bad_response', 'malformed_event'],
    [
      'an error of its own',
      'event: error\ndata: {"code":"tool_exploded","message":"m","retryable":false}\n\n',
      'provider_run_failed',
      'tool_exploded',
    ],
    [
      'a passing error of its own',
      'event: error\ndata: {"code":"busy","message":"m","retryable":true}\n\n',
      'provider_5xx',
      'busy',
    ],
  ])('may answer with %s', async (_name, text, type, code) => {
    stub.answer((_request, response) => sse(response, text));
    expect(await failureOf()).toMatchObject(code ? { type, code } : { type });
  });

  it('may break off', async () => {
    stub.answer((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('event: text\ndata: {"text":"x"}\n\n', () => response.destroy());
    });
    expect(await failureOf()).toMatchObject({ type: 'connect_failed', code: 'bridge_lost', retryable: true });
    expect(stub.requests).toHaveLength(1);
  });

  it('is asked again only where nothing listens', async () => {
    const gone = await startStub((_request, response) => response.end());
    await gone.close();
    const { host } = new URL(gone.url);
    const url = `http://user:password@${host}/base?token=${SECRET}`;
    const bridge = new ExternalBridge({ url, secret: () => Promise.resolve(SECRET) });
    const lonely = new HermesAdapter({ bridge, redactor: new SecretRedactor(), allowDemo: true });
    const { failure } = responseOf(await eventsOf(lonely, runtimeRequest('x')));
    expect(failure).toMatchObject({
      type: 'connect_failed',
      code: 'bridge_unavailable',
      retryable: true,
      message: `the external bridge at http://${host} (hermes.bridge.url) cannot be reached: no connection to the provider (ECONNREFUSED)`,
    });
  });

  it('needs its address', async () => {
    const bridge = new ExternalBridge({ url: null, secret: () => Promise.resolve(SECRET) });
    const nowhere = new HermesAdapter({ bridge, redactor: new SecretRedactor(), allowDemo: true });
    const { failure } = responseOf(await eventsOf(nowhere, runtimeRequest('x')));
    expect(failure).toMatchObject({ type: 'runtime_unavailable', message: 'hermes.bridge.url is not set' });
  });

  it('says that a lost call cannot be recovered, and needs no stop', async () => {
    const call = {
      commandId: 'c',
      correlationId: 'r',
      provider: runtimeRequest('x').agentRef.provider,
      providerRequestId: null,
      recovery: {},
    };
    expect(await adapter.recover(call)).toMatchObject({
      status: 'failed',
      failure: { type: 'outcome_unknown' },
    });
    expect(await adapter.cancel()).toBe(true);
  });
});
