import { NewApiAdapter } from '../../../src/runtime-adapters/new-api/new-api-adapter.js';
import type { AgentRuntimeRequest } from '../../../src/runtime-adapters/protocol/agent-runtime-request.js';
import type { ProviderRef } from '../../../src/runtime-adapters/protocol/provider-ref.js';
import { dataFrame, json } from '../../support/providers/play.js';
import {
  NEW_API_DONE,
  newApiChunk,
  newApiError,
  newApiFrames,
  NewApiStub,
  newApiUsage,
} from '../../support/providers/new-api-stub.js';
import { CANARY, credentialsFor, hear, QUICK, runtimeRequest, type Heard } from './harness.js';

const stub = new NewApiStub(CANARY);
const ref: ProviderRef = { runtimeProvider: 'new-api', newApi: { model: 'gpt-4o-mini', credentialRef: 'c' } };
const never = new AbortController().signal;

function adapter(): NewApiAdapter {
  const { credentials, redactor } = credentialsFor(stub, 'new-api');
  return new NewApiAdapter(credentials, redactor, QUICK);
}

function call(change: Partial<AgentRuntimeRequest> = {}): Promise<Heard> {
  return hear(adapter().execute(runtimeRequest(ref, change), never));
}

beforeAll(() => stub.start());
beforeEach(() => {
  stub.reset();
});
afterAll(() => stub.close());

describe('what New-API is sent', () => {
  it('is a stream with its usage, and the instructions as the system prompt', async () => {
    await call();
    expect(stub.commands[0]?.body).toMatchObject({
      model: 'gpt-4o-mini',
      stream: true,
      stream_options: { include_usage: true },
      messages: [{ role: 'system', content: 'You are brief.' }, { role: 'user' }],
    });
  });

  it('asks for a JSON object where the contract does', async () => {
    stub.next({ pieces: newApiFrames(['{"a":', '1}']) });
    const { response } = await call({ outputContract: { type: 'json', schema: { type: 'object' } } });
    expect(stub.commands[0]?.body?.response_format).toEqual({ type: 'json_object' });
    expect(JSON.stringify(stub.commands[0]?.body)).toContain('schema');
    expect(response.output).toEqual({ text: '{"a":1}', data: { a: 1 } });
  });
});

describe('numbers and nesting in answers of New-API', () => {
  const contract = { outputContract: { type: 'json' as const } };

  it('keeps the digits that a number would lose, as text', async () => {
    stub.next({ pieces: newApiFrames(['{"id":12345678901', '23456789,"n":1e400}']) });
    const { response } = await call(contract);
    expect(response.output?.data).toEqual({ id: '1234567890123456789', n: '1e400' });
  });

  it('says that an answer is nested too deep', async () => {
    stub.next({ pieces: newApiFrames([`{"a":${'['.repeat(5000)}`, `${']'.repeat(5000)}}`]) });
    const { response } = await call(contract);
    expect([response.status, response.failure?.type, response.failure?.message]).toEqual([
      'failed',
      'provider_bad_response',
      'the answer is nested deeper than 100 levels',
    ]);
  });
});

describe('odd chunks of New-API', () => {
  const odd = { id: 'chatcmpl-1', object: 'chat.completion.chunk', model: 'm' };

  it.each([
    ['choices: []', { ...odd, choices: [] }],
    ['choices: null', { ...odd, choices: null }],
    ['a delta that is null', { ...odd, choices: [{ index: 0, delta: null, finish_reason: null }] }],
    ['a content that is null', { ...odd, choices: [{ index: 0, delta: { content: null, role: null } }] }],
    [
      'an empty finish_reason',
      { ...odd, choices: [{ index: 0, delta: { content: '' }, finish_reason: '' }] },
    ],
    ['an error that is null', { ...odd, error: null, choices: [] }],
  ])('%s does no harm', async (_what, chunk) => {
    const [first = '', ...rest] = newApiFrames(['Hello']);
    stub.next({ pieces: [first, dataFrame(chunk), ...rest] });
    expect((await call()).response).toMatchObject({ status: 'succeeded', output: { text: 'Hello' } });
  });

  it.each([
    ['reasoning_content', [newApiChunk({ reasoning_content: 'hm' }), newApiChunk({ content: 'Hello' })]],
    ['reasoning', [newApiChunk({ reasoning: 'hm' }), newApiChunk({ content: 'Hello' })]],
    [
      '<think> in the text',
      ['<thi', 'nk>hm</th', 'ink>', 'Hello'].map((content) => newApiChunk({ content })),
    ],
  ])('reasoning in %s is thinking, not answer', async (_where, said) => {
    stub.next({ pieces: [...said, newApiChunk({}, 'stop'), newApiUsage(), NEW_API_DONE] });
    const { response, events, text } = await call();
    expect(response.output?.text.trim()).toBe('Hello');
    expect(text.trim()).toBe('Hello');
    expect(events).toContainEqual({ type: 'runtime.delta', channel: 'thinking', text: 'hm' });
  });

  it('a whole completion instead of a stream is read as well', async () => {
    const choices = [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }];
    stub.next(
      json(200, {
        id: 'x',
        object: 'chat.completion',
        choices,
        usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 },
      }),
    );
    expect((await call()).response).toMatchObject({ output: { text: 'Hello' }, usage: { totalTokens: 3 } });
  });

  it('a tool call is reported, and is why it finished', async () => {
    const part = (id: string | null, args: string) =>
      newApiChunk({
        tool_calls: [
          { index: 0, id, type: 'function', function: { name: id ? 'look' : null, arguments: args } },
        ],
      });
    stub.next({
      pieces: [part('t1', '{"q":'), part(null, '"sea"}'), newApiChunk({}, 'tool_calls'), NEW_API_DONE],
    });
    const { response, events } = await call();
    expect(events).toContainEqual({
      type: 'runtime.tool_call',
      callId: 't1',
      tool: 'look',
      args: { q: 'sea' },
    });
    expect(response).toMatchObject({ status: 'succeeded', finishReason: 'tool_call' });
  });

  it.each([
    ['length', 'length'],
    ['content_filter', 'partial'],
    ['stop', 'stop'],
  ])('finish_reason %s is %s', async (reason, finishReason) => {
    stub.next({ pieces: [newApiChunk({ content: 'a' }), newApiChunk({}, reason), NEW_API_DONE] });
    expect((await call()).response).toMatchObject({ status: 'succeeded', finishReason });
  });
});

describe('the end of a New-API stream', () => {
  it('[DONE] without a finish_reason is no success', async () => {
    stub.next({ pieces: [newApiChunk({ content: 'half' }), NEW_API_DONE] });
    expect((await call()).response).toMatchObject({
      status: 'failed',
      output: null,
      failure: { type: 'provider_bad_response', code: 'incomplete' },
    });
  });

  it('[DONE] alone is no empty success', async () => {
    stub.next({ pieces: [NEW_API_DONE] });
    expect((await call()).response.status).toBe('failed');
  });

  it.each(['end', 'reset'] as const)(
    'a finish_reason is enough, also where the rest got lost (%s)',
    async (then) => {
      stub.next({ pieces: [newApiChunk({ content: 'whole' }), newApiChunk({}, 'stop')], then });
      expect((await call()).response).toMatchObject({
        status: 'succeeded',
        output: { text: 'whole' },
        usage: { totalTokens: null },
      });
    },
  );

  it('does not wait for a connection that stays open after [DONE]', async () => {
    stub.next({ pieces: newApiFrames(['Hello']), then: 'silence' });
    expect((await call()).response.status).toBe('succeeded');
  });

  it('text after the finish_reason does not count', async () => {
    stub.next({
      pieces: [
        newApiChunk({ content: 'a' }),
        newApiChunk({}, 'stop'),
        newApiChunk({ content: 'b' }),
        NEW_API_DONE,
      ],
    });
    expect((await call()).response.output?.text).toBe('a');
  });
});

describe('errors of New-API', () => {
  it.each([
    [403, 'insufficient_user_quota', 'quota_exceeded', 1],
    [403, 'pre_consume_token_quota_failed', 'quota_exceeded', 1],
    [403, 'access_denied', 'auth_failed', 1],
    [401, 'invalid_api_key', 'auth_failed', 1],
    [429, '', 'rate_limited', 2],
    [404, 'model_not_found', 'provider_bad_request', 1],
    [502, 'bad_response_status_code', 'provider_5xx', 2],
  ])('%i %s is %s', async (status, code, type, posts) => {
    stub.next(json(status, newApiError('no', code)), json(status, newApiError('no', code)));
    expect((await call()).response.failure).toMatchObject({ type, httpStatus: status });
    expect(stub.posts).toBe(posts);
  });

  it.each([
    ['a number', 1234, '1234'],
    ['empty', '', 'new_api_error'],
    ['an object', { a: 1 }, 'new_api_error'],
    ['null', null, 'new_api_error'],
  ])('a code that is %s is read', async (_what, code, expected) => {
    stub.next(json(400, newApiError('no', code)));
    expect((await call()).response.failure?.code).toBe(expected);
  });

  it.each([
    ['a JSON error under text/event-stream', { pieces: [JSON.stringify(newApiError('upstream gone'))] }],
    ['an error frame', { pieces: [dataFrame(newApiError('upstream gone'))] }],
    ['an error that is only a text', { pieces: [dataFrame({ error: 'upstream gone' })] }],
    ['success: false', json(200, { success: false, message: 'upstream gone' })],
  ])('%s fails although the status is 200', async (_what, play) => {
    stub.next(play);
    const { response } = await call();
    expect(response.failure).toMatchObject({ type: 'provider_run_failed', retryable: false });
    expect(response.failure?.message).toContain('upstream gone');
    expect(stub.posts).toBe(1);
  });

  it('a 429 that passes is posted again and succeeds', async () => {
    stub.next(json(429, newApiError('slow down', '')));
    expect((await call()).response.status).toBe('succeeded');
    expect(stub.posts).toBe(2);
  });

  it('is not posted again beyond the policy', async () => {
    stub.next(json(503, {}));
    expect((await call({ retryPolicy: { maxAttempts: 1 } })).response.failure?.type).toBe('provider_5xx');
    expect(stub.posts).toBe(1);
  });
});

it('a New-API call cannot be recovered after a restart, and asks nobody', async () => {
  const response = await adapter().recover({
    commandId: 'c',
    correlationId: 'r',
    provider: ref,
    providerRequestId: 'req-1',
    recovery: {},
  });
  expect(response).toMatchObject({
    status: 'failed',
    providerRequestId: 'req-1',
    failure: { type: 'outcome_unknown' },
  });
  expect(stub.requests).toHaveLength(0);
});
