import type { ServerResponse } from 'node:http';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startBridgeProcess } from '../../support/bridge/bridge-process.js';
import {
  chunk,
  sendStream,
  streamOf,
  toolCallInPieces,
  usageChunk,
} from '../../support/bridge/chat-chunks.js';
import { dataOf, type RunningBridge } from '../../support/bridge/running-bridge.js';
import { startStub, type StubServer } from '../../support/bridge/stub-server.js';

const KEY = 'sk-canary-0123456789abcdef';
const request = { model: 'm', prompt: 'Say something', instructions: 'Be brief' };

/** Writes each byte on its own, so that every frame is split everywhere. */
async function dribble(response: ServerResponse, text: string): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const byte of Buffer.from(text)) {
    response.write(Buffer.from([byte]));
    await new Promise((resolve) => setImmediate(resolve));
  }
  response.end();
}

describe('an OpenAI-compatible endpoint that misbehaves', () => {
  let stub: StubServer;
  let bridge: RunningBridge;
  beforeAll(async () => {
    stub = await startStub((_request, response) => response.end());
    bridge = await startBridgeProcess({ BRIDGE_LLM_BASE_URL: `${stub.url}/v1`, BRIDGE_LLM_API_KEY: KEY });
  });
  afterAll(async () => {
    await bridge.close();
    await stub.close();
  });
  beforeEach(() => stub.requests.splice(0));

  const errorOf = async (): Promise<{ code: string; message: string; retryable: boolean }> => {
    const events = await bridge.run(request);
    const [error] = dataOf(events, 'error');
    if (!error) throw new Error(`no error, but ${JSON.stringify(events)}`);
    expect(events.filter(({ event }) => event === 'error' || event === 'result')).toHaveLength(1);
    return error;
  };

  it('streams reasoning, text and usage, and is asked as configured', async () => {
    stub.answer((_request, response) =>
      sendStream(response, [
        chunk({ role: 'assistant', reasoning_content: '想' }),
        chunk({ reasoning_content: '一想' }),
        chunk({ content: '你' }),
        chunk({ content: '好😀' }),
        chunk({}, { finish: 'stop' }),
        usageChunk,
      ]),
    );
    const events = await bridge.run(request);
    expect(
      dataOf(events, 'thinking')
        .map(({ text }) => text)
        .join(''),
    ).toBe('想一想');
    expect(
      dataOf(events, 'text')
        .map(({ text }) => text)
        .join(''),
    ).toBe('你好😀');
    expect(dataOf(events, 'usage')).toEqual([{ prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 }]);
    expect(dataOf(events, 'result')).toEqual([{ text: '你好😀', data: null, finish_reason: 'stop' }]);
    const [asked] = stub.requests;
    expect(asked?.path).toBe('/v1/chat/completions');
    expect(asked?.headers.authorization).toBe(`Bearer ${KEY}`);
    expect(asked?.json).toMatchObject({
      model: 'm',
      stream: true,
      stream_options: { include_usage: true },
      messages: [
        { role: 'system', content: 'Be brief' },
        { role: 'user', content: 'Say something' },
      ],
    });
  });

  it('is read although every frame is split at every byte', async () => {
    const frames = [
      chunk({ reasoning_content: '想😀' }),
      chunk({ content: '你好，' }),
      chunk({ content: '世界 🌍' }),
      chunk({}, { finish: 'stop' }),
      usageChunk,
    ];
    stub.answer((_request, response) => void dribble(response, `: PING\r\n\r\n${streamOf(frames)}`));
    const events = await bridge.run(request);
    expect(
      dataOf(events, 'thinking')
        .map(({ text }) => text)
        .join(''),
    ).toBe('想😀');
    expect(dataOf(events, 'result')[0]?.text).toBe('你好，世界 🌍');
  });

  it('may put its reasoning into the text', async () => {
    stub.answer((_request, response) =>
      sendStream(response, [
        chunk({ content: '<thi' }),
        chunk({ content: 'nk>hm</think>' }),
        chunk({ content: 'done' }),
        chunk({}, { finish: 'stop' }),
      ]),
    );
    const events = await bridge.run(request);
    expect(
      dataOf(events, 'thinking')
        .map(({ text }) => text)
        .join(''),
    ).toBe('hm');
    expect(dataOf(events, 'result')[0]?.text.trim()).toBe('done');
  });

  it.each([
    ['an empty list', { choices: [] }],
    ['null', { choices: null }],
  ])('may send choices that are %s', async (_name, more) => {
    stub.answer((_request, response) =>
      sendStream(response, [
        { ...chunk({}), ...more },
        chunk({ content: 'ok' }),
        { ...chunk({}), ...more },
        chunk({}, { finish: 'stop' }),
        { ...usageChunk, ...more },
      ]),
    );
    const events = await bridge.run(request);
    expect(dataOf(events, 'result')[0]?.text).toBe('ok');
    expect(dataOf(events, 'usage')[0]?.total_tokens).toBe(18);
  });

  it('calls tools in pieces, is told the results, and its last text is the answer', async () => {
    stub.answer((_request, response, count) => {
      if (count === 1) {
        sendStream(response, [
          chunk({ content: 'Let me write. ' }),
          ...toolCallInPieces('c1', 'write_file', '{"path":"一.txt","content":"壹"}'),
        ]);
      } else if (count === 2) {
        sendStream(response, toolCallInPieces('c2', 'update_todo', '{"todos":[{"content":"x"}]}'));
      } else {
        sendStream(response, [chunk({ content: 'Written.' }), chunk({}, { finish: 'stop' }), usageChunk]);
      }
    });
    const events = await bridge.run({ ...request, tools: ['write_file', 'update_todo'] });
    expect(events.map(({ event }) => event)).toEqual([
      'text',
      'tool_call',
      'tool_result',
      'tool_call',
      'tool_result',
      'todo_update',
      'text',
      'usage',
      'result',
    ]);
    expect(dataOf(events, 'tool_call')[0]).toEqual({
      call_id: 'c1',
      tool: 'write_file',
      args: { path: '一.txt', content: '壹' },
    });
    expect(dataOf(events, 'tool_result')[0]).toMatchObject({ call_id: 'c1', error: null });
    expect(dataOf(events, 'todo_update')).toEqual([{ todos: [{ content: 'x' }] }]);
    expect(dataOf(events, 'result')[0]?.text).toBe('Written.');
    expect(await readFile(join(bridge.workspace, '一.txt'), 'utf8')).toBe('壹');
    const second = stub.requests[1]?.json as { messages: { role: string; tool_call_id?: string }[] };
    expect(second.messages.at(-1)).toMatchObject({ role: 'tool', tool_call_id: 'c1' });
  });

  it.each([
    ['a tool that does not exist', 'shell', '{"cmd":"id"}'],
    ['arguments that are no JSON', 'write_file', '{"path":'],
    ['arguments of a wrong shape', 'write_file', '{"path":5}'],
    ['a path that leads out', 'write_file', '{"path":"../x","content":"x"}'],
  ])('may call %s: it is told so and goes on', async (_name, tool, args) => {
    stub.answer((_request, response, count) => {
      if (count === 1) sendStream(response, toolCallInPieces('c1', tool, args));
      else sendStream(response, [chunk({ content: 'sorry' }), chunk({}, { finish: 'stop' })]);
    });
    const events = await bridge.run({ ...request, tools: ['write_file'] });
    expect(dataOf(events, 'tool_result')).toHaveLength(1);
    expect(dataOf(events, 'tool_result')[0]?.error).toEqual(expect.any(String) as string);
    expect(dataOf(events, 'result')[0]?.text).toBe('sorry');
  });

  it('may call a tool with integers that a number would round: they keep their digits', async () => {
    const args =
      '{"todos":[{"id":1234567890123456789,"e":9007199254740993e0,"inf":1e400,"safe":9007199254740991}]}';
    stub.answer((_request, response, count) => {
      if (count === 1) sendStream(response, toolCallInPieces('c1', 'update_todo', args));
      else sendStream(response, [chunk({ content: 'done' }), chunk({}, { finish: 'stop' })]);
    });
    const events = await bridge.run({ ...request, tools: ['update_todo'] });
    const kept = { id: '1234567890123456789', e: '9007199254740993e0', inf: '1e400', safe: 9007199254740991 };
    expect(dataOf(events, 'tool_call')[0]?.args).toEqual({ todos: [kept] });
    expect(dataOf(events, 'todo_update')).toEqual([{ todos: [kept] }]);
    expect(dataOf(events, 'result')[0]?.text).toBe('done');
  });

  it('may nest the arguments of a call, or its answer, too deep', async () => {
    const deep = `${'['.repeat(3000)}${']'.repeat(3000)}`;
    stub.answer((_request, response) =>
      sendStream(response, toolCallInPieces('c1', 'update_todo', `{"todos":[{"deep":${deep}}]}`)),
    );
    const [error] = dataOf(await bridge.run({ ...request, tools: ['update_todo'] }), 'error');
    expect(error).toEqual({
      code: 'provider_bad_response',
      message: "the model's call of update_todo is nested deeper than 100 levels",
      retryable: false,
    });
    stub.answer((_request, response) =>
      sendStream(response, [chunk({ content: `{"deep":${deep}}` }), chunk({}, { finish: 'stop' })]),
    );
    expect((await errorOf()).message).toBe('the answer is nested deeper than 100 levels');
  });

  it('is refused more than fifty tool calls, and stopped when it never ends', async () => {
    stub.answer((_request, response, count) =>
      sendStream(response, toolCallInPieces(`c${count}`, 'list_files', '{}')),
    );
    const events = await bridge.run({ ...request, tools: ['list_files'] });
    const errors = dataOf(events, 'tool_result').map(({ error }) => error);
    expect(errors.slice(0, 50).every((error) => error === null)).toBe(true);
    expect(errors[50]).toBe('refused: more than 50 tool calls in one visit');
    expect(events.at(-1)).toMatchObject({ event: 'error', data: { code: 'provider_run_failed' } });
    expect(stub.requests.length).toBeLessThanOrEqual(100);
  });

  it('answers with JSON where a schema asks for it, fenced or not', async () => {
    const output_schema = { type: 'object', properties: { n: { type: 'number' } } };
    stub.answer((_request, response, count) =>
      sendStream(response, [
        chunk({ content: count === 1 ? '{"n": 1}' : '```json\n{"n": 2}\n```' }),
        chunk({}, { finish: 'stop' }),
      ]),
    );
    const [plain] = dataOf(await bridge.run({ ...request, output_schema }), 'result');
    const [fenced] = dataOf(await bridge.run({ ...request, output_schema }), 'result');
    expect([plain?.data, fenced?.data]).toEqual([{ n: 1 }, { n: 2 }]);
    const asked = stub.requests[0]?.json as { response_format: object; messages: { content: string }[] };
    expect(asked.response_format).toEqual({ type: 'json_object' });
    expect(asked.messages[0]?.content).toContain('"properties":{"n"');
  });

  it('says when the answer was cut', async () => {
    stub.answer((_request, response) =>
      sendStream(response, [chunk({ content: 'half' }), chunk({}, { finish: 'length' })]),
    );
    const [result] = dataOf(await bridge.run(request), 'result');
    expect(result).toEqual({ text: 'half', data: null, finish_reason: 'length' });
  });

  it.each([
    [401, { message: 'bad key' }, 'auth_failed', false],
    [403, { message: 'no quota', code: 'insufficient_user_quota' }, 'quota_exceeded', false],
    [403, { message: 'ip', code: 'access_denied' }, 'auth_failed', false],
    [404, { message: 'no model' }, 'provider_bad_request', false],
    [429, { message: 'slow down', code: '' }, 'rate_limited', true],
    [429, { message: 'pay', code: 'insufficient_quota' }, 'quota_exceeded', false],
    [500, { message: 'oops' }, 'provider_5xx', true],
    [503, { message: 'oops' }, 'provider_5xx', true],
  ])('may answer %i %j: %s', async (status, error, code, retryable) => {
    stub.answer((_request, response) => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ error }));
    });
    expect(await errorOf()).toMatchObject({
      code,
      retryable,
      message: expect.stringContaining(error.message) as string,
    });
  });

  it.each([
    ['an HTML page', 'text/html', '<html>login</html>', 'provider_bad_response'],
    ['HTML as a stream', 'text/event-stream', '<!doctype html><p>x</p>', 'provider_bad_response'],
    ['a JSON error', 'application/json', '{"error":{"message":"odd"}}', 'provider_bad_response'],
    ['a JSON error as a stream', 'text/event-stream', '{"error":{"message":"odd"}}', 'provider_bad_response'],
    ['nothing', 'text/event-stream', '', 'connect_failed'],
    ['only [DONE]', 'text/event-stream', 'data: [DONE]\n\n', 'connect_failed'],
    ['garbage', 'text/event-stream', 'data: {broken\n\n', 'provider_bad_response'],
    [
      'an error frame',
      'text/event-stream',
      'data: {"error":{"message":"odd","type":"x"}}\n\n',
      'provider_5xx',
    ],
    [
      'an error frame with choices',
      'text/event-stream',
      'data: {"choices":[],"error":{"message":"odd","code":5}}\n\n',
      'provider_5xx',
    ],
    [
      'a rate limit as a frame',
      'text/event-stream',
      'data: {"error":{"message":"odd","code":"rate_limit_exceeded"}}\n\n',
      'rate_limited',
    ],
  ])('may answer 200 with %s', async (_name, type, body, code) => {
    stub.answer((_request, response) => {
      response.writeHead(200, { 'content-type': type });
      response.end(body);
    });
    expect((await errorOf()).code).toBe(code);
  });

  it('may stop without a finish reason in spite of [DONE]: no success', async () => {
    stub.answer((_request, response) => sendStream(response, [chunk({ content: 'half an ans' })]));
    expect(await errorOf()).toMatchObject({ code: 'connect_failed', retryable: true });
  });

  it('may close the connection in the middle', async () => {
    stub.answer((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(`data: ${JSON.stringify(chunk({ content: 'half' }))}\n\n`, () => response.destroy());
    });
    expect(await errorOf()).toMatchObject({ code: 'connect_failed', retryable: true });
  });

  it('may close the connection at once', async () => {
    stub.answer((_request, response) => response.destroy());
    expect(await errorOf()).toMatchObject({ code: 'connect_failed', retryable: true });
  });

  it('may redirect: the key does not go along', async () => {
    const other = await startStub((_request, response) => response.end());
    stub.answer((_request, response) => {
      response.writeHead(307, { location: `${other.url}/v1/chat/completions` });
      response.end();
    });
    const error = await errorOf();
    await other.close();
    expect(error.code).toBe('provider_bad_request');
    expect(other.requests).toHaveLength(0);
  });

  it('is asked once only, whatever it answers', async () => {
    stub.answer((_request, response) => {
      response.writeHead(500);
      response.end('{}');
    });
    await bridge.run(request);
    expect(stub.requests).toHaveLength(1);
  });

  it('is let go when the reader has gone', async () => {
    const closed = new Promise<void>((resolve) => {
      stub.answer((_request, response) => {
        response.on('close', resolve);
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write(`data: ${JSON.stringify(chunk({ content: 'x' }))}\n\n`);
      });
    });
    const gone = new AbortController();
    const response = await bridge.post(request, { signal: gone.signal });
    await response.body?.getReader().read();
    gone.abort();
    await closed;
  });

  it('may echo the key: it comes out masked', async () => {
    stub.answer((_request, response, count) => {
      if (count === 1) {
        response.writeHead(401, { 'content-type': 'application/json' });
        response.end(JSON.stringify({ error: { message: `Incorrect API key provided: ${KEY}` } }));
      } else {
        sendStream(response, [chunk({ content: `key ${KEY}` }), chunk({}, { finish: 'stop' })]);
      }
    });
    const answers = [await bridge.run(request), await bridge.run(request)];
    expect(JSON.stringify(answers)).not.toContain(KEY);
    expect(JSON.stringify(answers)).toContain('sk-c***');
    expect(bridge.log.join('\n')).not.toContain(KEY);
  });
});

describe('an endpoint that is not there', () => {
  it('is a failed connection that may be tried again', async () => {
    const stub = await startStub((_request, response) => response.end());
    await stub.close();
    const bridge = await startBridgeProcess({ BRIDGE_LLM_BASE_URL: `${stub.url}/v1` });
    const events = await bridge.run({ model: 'm' });
    await bridge.close();
    expect(events).toMatchObject([{ event: 'error', data: { code: 'connect_failed', retryable: true } }]);
  });
});
