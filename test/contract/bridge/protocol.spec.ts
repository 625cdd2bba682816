import { once } from 'node:events';
import { connect } from 'node:net';
import {
  BRIDGE_SECRET,
  dataOf,
  eventsOf,
  runRequest,
  startBridge,
  type RunningBridge,
} from '../../support/bridge/running-bridge.js';
import { PATIENCE_MILLIS } from '../../support/patience.js';

describe('the bridge protocol', () => {
  let bridge: RunningBridge;
  beforeAll(async () => {
    bridge = await startBridge({}, { heartbeatMillis: 20 });
  });
  afterAll(() => bridge.close());

  const raw = (body: string, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(`${bridge.url}/run`, {
      method: 'POST',
      headers: { authorization: `Bearer ${BRIDGE_SECRET}`, ...headers },
      body,
    });

  it.each([
    ['no header', {}],
    ['a wrong token', { authorization: 'Bearer wrong' }],
    ['another scheme', { authorization: `Basic ${BRIDGE_SECRET}` }],
    ['a prefix of the token', { authorization: `Bearer ${BRIDGE_SECRET.slice(0, -1)}` }],
  ])('refuses %s on both endpoints', async (_name, headers: Record<string, string>) => {
    for (const [path, method] of [
      ['/run', 'POST'],
      ['/health', 'GET'],
    ]) {
      const response = await fetch(`${bridge.url}${path}`, { method, headers });
      expect(response.status).toBe(401);
      expect(await response.text()).not.toContain(BRIDGE_SECRET);
    }
  });

  it('answers its health', async () => {
    const response = await fetch(`${bridge.url}/health`, {
      headers: { authorization: `Bearer ${BRIDGE_SECRET}` },
    });
    expect([response.status, await response.json()]).toEqual([200, { status: 'ok', active: 0 }]);
  });

  it('refuses unknown paths and wrong methods', async () => {
    const headers = { authorization: `Bearer ${BRIDGE_SECRET}` };
    expect((await fetch(`${bridge.url}/other`, { headers })).status).toBe(404);
    expect((await fetch(`${bridge.url}/run`, { headers })).status).toBe(405);
    expect((await fetch(`${bridge.url}/health`, { method: 'POST', headers })).status).toBe(405);
  });

  it.each([
    ['no JSON', '{', /not valid JSON/],
    ['a list', '[]', /object/i],
    ['a missing field', JSON.stringify({ ...runRequest('/tmp'), prompt: undefined }), /prompt/],
    ['an unknown field', JSON.stringify({ ...runRequest('/tmp'), surprise: 1 }), /surprise/],
    ['a wrong type', JSON.stringify({ ...runRequest('/tmp'), tools: 'read_file' }), /tools/],
    ['a relative workspace', JSON.stringify({ ...runRequest('here') }), /workspace_dir/],
    ['a NUL in the workspace', JSON.stringify({ ...runRequest('/tmp/\0') }), /workspace_dir/],
    ['no time', JSON.stringify({ ...runRequest('/tmp'), timeout_seconds: 0 }), /timeout_seconds/],
  ])('answers 400 to %s', async (_name, body, message) => {
    const response = await raw(body);
    const { error } = (await response.json()) as { error: { code: string; message: string } };
    expect([response.status, error.code]).toEqual([400, 'provider_bad_request']);
    expect(error.message).toMatch(message);
  });

  it('never repeats a token of a refused body', async () => {
    const context_query = { base_url: 5, token: 'canary-token-0123456789', run_id: 'r', visit_uuid: 'v' };
    const response = await raw(JSON.stringify({ ...runRequest('/tmp'), context_query }));
    const text = await response.text();
    expect(response.status).toBe(400);
    expect(text).not.toContain('canary');
  });

  it('answers 400 to what is not UTF-8 and 413 to what is too large', async () => {
    const broken = await fetch(`${bridge.url}/run`, {
      method: 'POST',
      headers: { authorization: `Bearer ${BRIDGE_SECRET}` },
      body: new Uint8Array([0x22, 0xff, 0x22]),
    });
    expect(broken.status).toBe(400);
    const announced = await tooLarge();
    expect(announced).toMatch(/^HTTP\/1\.1 413 /);
  });

  /** Announces a body that is over the limit and sends none of it. */
  async function tooLarge(): Promise<string> {
    const socket = connect(Number(new URL(bridge.url).port), '127.0.0.1');
    socket.write(
      `POST /run HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${BRIDGE_SECRET}\r\nContent-Length: 99999999\r\n\r\n`,
    );
    const [answer] = (await once(socket, 'data')) as [Buffer];
    socket.destroy();
    return answer.toString();
  }

  it('answers with events of which the last, and only the last, is the result', async () => {
    const response = await bridge.post({ prompt: '@think hm\n@say one\n@say two' });
    expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/);
    const events = await eventsOf(response);
    expect(events.map(({ event }) => event)).toEqual(['thinking', 'text', 'text', 'usage', 'result']);
    expect(dataOf(events, 'result')).toEqual([{ text: 'one\ntwo', data: null, finish_reason: 'stop' }]);
    expect(
      dataOf(events, 'text')
        .map(({ text }) => text)
        .join(''),
    ).toBe('one\ntwo');
  });

  it('ends a failure with one error', async () => {
    const events = await bridge.run({ prompt: '@say one\n@fail broken' });
    expect(events.map(({ event }) => event)).toEqual(['text', 'error']);
    expect(dataOf(events, 'error')).toEqual([
      { code: 'provider_run_failed', message: 'broken', retryable: false },
    ]);
  });

  it('sends heartbeats as comments while nothing happens', async () => {
    const response = await bridge.post({ prompt: '@sleep 150\n@say woke' });
    const text = await response.text();
    expect(text.match(/^: heartbeat$/gm)?.length ?? 0).toBeGreaterThanOrEqual(2);
    expect(text).toContain('woke');
  });

  it('ends a run that passes its time with a retryable error', async () => {
    const events = await bridge.run({ prompt: '@sleep 60000', timeout_seconds: 0.1 });
    expect(dataOf(events, 'error')).toEqual([
      { code: 'network_timeout', message: 'no answer within 0.1 s', retryable: true },
    ]);
  });

  it('stops the work of a client that has gone', async () => {
    const gone = new AbortController();
    const response = await bridge.post({ prompt: '@say begun\n@sleep 60000' }, { signal: gone.signal });
    await response.body?.getReader().read();
    expect(await active()).toBe(1);
    gone.abort();
    const deadline = Date.now() + PATIENCE_MILLIS;
    while ((await active()) > 0) {
      if (Date.now() > deadline) throw new Error('the run goes on without a reader');
    }
  });

  async function active(): Promise<number> {
    const response = await fetch(`${bridge.url}/health`, {
      headers: { authorization: `Bearer ${BRIDGE_SECRET}` },
    });
    return ((await response.json()) as { active: number }).active;
  }

  it('refuses tools that it does not have', async () => {
    const events = await bridge.run({ tools: ['read_file', 'shell'] });
    expect(events).toEqual([
      {
        event: 'error',
        data: { code: 'provider_bad_request', message: 'there are no such tools: shell', retryable: false },
      },
    ]);
  });

  it('refuses models when no endpoint is set', async () => {
    const [error] = dataOf(await bridge.run({ model: 'gpt-x' }), 'error');
    expect(error).toMatchObject({ code: 'runtime_unavailable', retryable: false });
    expect(error?.message).toContain('hermes.llm.base-url');
  });

  it('carries Chinese, emoji and control characters unharmed', async () => {
    const [result] = dataOf(await bridge.run({ prompt: '@json {"文":"😀\\u0000\\u2028 “x”"}' }), 'result');
    expect(result?.data).toEqual({ 文: '😀\u0000\u2028 “x”' });
  });

  it.each([
    ['@json {"a":[{"n": 12345678901234567890}]}', 'a.0.n: the integer 12345678901234567890 is outside'],
    ['@json {"n": 9007199254740993.0}', 'n: the integer 9007199254740993.0 is outside'],
    ['@json {"n": 9007199254740993e0}', 'n: the integer 9007199254740993e0 is outside'],
    ['@json {"n": 1e400}', 'n: the number 1e400 is too large'],
    ['@call update_todo {"todos":[{"id":-1e400}]}', 'todos.0.id: the number -1e400 is too large'],
    [`@json ${'['.repeat(101)}${']'.repeat(101)}`, 'the JSON after @json is nested deeper than 100 levels'],
    [`@say ${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}`, 'the answer is nested deeper than 100 levels'],
  ])('says what it cannot take of %.50s', async (prompt, message) => {
    const events = await bridge.run({ prompt, tools: ['update_todo'] });
    const [error] = dataOf(events, 'error');
    expect(error?.message).toContain(message);
    expect(error?.retryable).toBe(false);
    expect(dataOf(events, 'result')).toEqual([]);
  });

  it('keeps the digits of what a model says, as text', async () => {
    const answer = '@say {"id": 12345678901234567890, "n": 1e400, "ok": 9007199254740991}';
    const [result] = dataOf(await bridge.run({ prompt: answer }), 'result');
    expect(result?.data).toEqual({ id: '12345678901234567890', n: '1e400', ok: 9007199254740991 });
    expect(result?.text).toBe(answer.slice('@say '.length));
  });
});
