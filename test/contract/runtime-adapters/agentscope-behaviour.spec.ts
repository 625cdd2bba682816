import { AgentScopeAdapter } from '../../../src/runtime-adapters/agentscope/agentscope-adapter.js';
import type { AgentRuntimeRequest } from '../../../src/runtime-adapters/protocol/agent-runtime-request.js';
import type { ProviderRef } from '../../../src/runtime-adapters/protocol/provider-ref.js';
import {
  AgentScopeSessionStub,
  replyEnd,
  sessionEvent,
  sessionFrames,
} from '../../support/providers/agentscope-session-stub.js';
import {
  AgentScopeStub,
  processFrame,
  processFrames,
  processMessage,
  processResponse,
  processText,
} from '../../support/providers/agentscope-stub.js';
import { dataFrame, json } from '../../support/providers/play.js';
import type { ProviderStub } from '../../support/providers/provider-stub.js';
import { CANARY, credentialsFor, hear, QUICK, runtimeRequest, type Heard } from './harness.js';

const runtime = new AgentScopeStub(CANARY);
const sessions = new AgentScopeSessionStub(CANARY);
const V1: ProviderRef = {
  runtimeProvider: 'agentscope',
  agentscope: { graphId: 'g', agentId: 'friday', version: '3', credentialRef: 'c' },
};
const V2: ProviderRef = {
  runtimeProvider: 'agentscope',
  agentscope: { agentId: 'friday', protocolVersion: 2, credentialRef: 'c' },
};
const never = new AbortController().signal;

function adapter(stub: ProviderStub): AgentScopeAdapter {
  const { credentials, redactor } = credentialsFor(stub, 'agentscope');
  return new AgentScopeAdapter(credentials, redactor, QUICK);
}

function call(stub: ProviderStub, change: Partial<AgentRuntimeRequest> = {}): Promise<Heard> {
  return hear(adapter(stub).execute(runtimeRequest(stub === runtime ? V1 : V2, change), never));
}

beforeAll(async () => {
  await runtime.start();
  await sessions.start();
});
beforeEach(() => {
  runtime.reset();
  sessions.reset();
});
afterAll(async () => {
  await runtime.close();
  await sessions.close();
});

describe('AgentScope Runtime 1.1', () => {
  const done = processResponse('completed');

  it('does not append the whole text that follows its deltas', async () => {
    const { response, text } = await call(runtime);
    expect(response.output?.text).toBe('Hello, world');
    expect(text).toBe('Hello, world');
  });

  it.each([
    ['only in its content frame', [processText('Hello', { delta: false, status: 'completed' }), done]],
    [
      'only in its message',
      [processMessage('completed', { content: [{ type: 'text', text: 'Hello' }] }), done],
    ],
    [
      'only in its response',
      [
        processResponse('completed', {
          output: [
            {
              id: 'msg_1',
              type: 'message',
              role: 'assistant',
              status: 'completed',
              content: [{ type: 'text', text: 'Hello' }],
            },
          ],
        }),
      ],
    ],
    [
      'partly in deltas',
      [processText('Hel'), processText('Hello', { delta: false, status: 'completed' }), done],
    ],
  ])('reads a text that comes %s', async (_where, frames) => {
    runtime.next({ pieces: [processResponse('created'), ...frames] });
    const { response, text } = await call(runtime);
    expect(response.output?.text).toBe('Hello');
    expect(text).toBe('Hello');
  });

  it('takes a whole text that differs from its deltas for the true one', async () => {
    runtime.next({
      pieces: [processText('Helo'), processText('Hello', { delta: false, status: 'completed' }), done],
    });
    expect((await call(runtime)).response.output?.text).toBe('Hello');
  });

  it.each([
    ['plugin_call', 'plugin_call_output'],
    ['mcp_call', 'mcp_call_output'],
    ['function_call', 'function_call_output'],
  ])('reports %s and its output once each', async (called, output) => {
    const call_ = { call_id: 't1', name: 'search', arguments: '{"q":"sea"}' };
    const result = { call_id: 't1', name: 'search', output: '["salt"]' };
    runtime.next({
      pieces: [
        processResponse('created'),
        processMessage('in_progress', { id: 'm0', type: called }),
        processFrame('content', 'in_progress', {
          type: 'data',
          msg_id: 'm0',
          delta: true,
          data: { ...call_, arguments: '{"q' },
        }),
        processFrame('content', 'completed', { type: 'data', msg_id: 'm0', delta: false, data: call_ }),
        processMessage('completed', { id: 'm0', type: called, content: [{ type: 'data', data: call_ }] }),
        processMessage('completed', { id: 'm1', type: output, content: [{ type: 'data', data: result }] }),
        ...processFrames(['Salt.']).slice(2),
      ],
    });
    const { events, response } = await call(runtime);
    expect(events.filter(({ type }) => type.startsWith('runtime.tool'))).toEqual([
      { type: 'runtime.tool_call', callId: 't1', tool: 'search', args: { q: 'sea' } },
      { type: 'runtime.tool_result', callId: 't1', tool: 'search', result: ['salt'], error: null },
    ]);
    expect(response.output?.text).toBe('Salt.');
  });

  it('keeps reasoning, heartbeats and what came from us out of the answer', async () => {
    runtime.next({
      pieces: [
        processResponse('created'),
        processMessage('in_progress', { id: 'r', type: 'reasoning' }),
        processText('hm', { msg_id: 'r' }),
        processMessage('completed', { id: 'h', type: 'heartbeat' }),
        processMessage('completed', { id: 'u', role: 'user', content: [{ type: 'text', text: 'question' }] }),
        ...processFrames(['Hello']).slice(2),
      ],
    });
    const { events, response } = await call(runtime);
    expect(response.output?.text).toBe('Hello');
    expect(events).toContainEqual({ type: 'runtime.delta', channel: 'thinking', text: 'hm' });
    expect(events).toContainEqual({ type: 'runtime.heartbeat' });
  });

  it('adds the usage of all messages up: the response has only that of the last', async () => {
    const usage = (tokens: number) => ({ usage: { input_tokens: tokens, output_tokens: 1 } });
    runtime.next({
      pieces: [
        processMessage('completed', { id: 'a', content: [{ type: 'text', text: 'a' }], ...usage(10) }),
        processMessage('completed', { id: 'b', content: [{ type: 'text', text: 'b' }], ...usage(20) }),
        processResponse('completed', usage(20)),
      ],
    });
    expect((await call(runtime)).response.usage).toMatchObject({
      promptTokens: 30,
      completionTokens: 2,
      totalTokens: 32,
    });
  });

  it.each([
    [
      'a bare error before anything',
      [dataFrame({ error: 'runner is not ready' })],
      'provider_bad_request',
      null,
    ],
    [
      'a bare error later',
      [processResponse('created'), dataFrame({ error: 'boom' })],
      'provider_run_failed',
      null,
    ],
    [
      'failed',
      [processResponse('failed', { error: { code: 'E1', message: 'boom' } })],
      'provider_run_failed',
      'E1',
    ],
    ['rejected', [processResponse('rejected')], 'provider_run_failed', 'rejected'],
    ['canceled', [processText('a'), processResponse('canceled')], 'provider_run_failed', 'canceled'],
    ['incomplete without a text', [processResponse('incomplete')], 'provider_run_failed', 'incomplete'],
    [
      'an error message',
      [processMessage('failed', { type: 'error', code: 'E2', message: 'boom' })],
      'provider_run_failed',
      'E2',
    ],
    [
      'an approval that nobody can give',
      [processMessage('completed', { type: 'mcp_approval_request' }), done],
      'provider_run_failed',
      'approval',
    ],
  ])('%s is a failure', async (_what, frames, type, code) => {
    runtime.next({ pieces: frames });
    expect((await call(runtime)).response).toMatchObject({
      status: 'failed',
      output: null,
      failure: { type, code },
    });
  });

  it('incomplete with a text is partial', async () => {
    runtime.next({ pieces: [processText('half'), processResponse('incomplete')] });
    expect((await call(runtime)).response).toMatchObject({ status: 'succeeded', finishReason: 'partial' });
  });

  it('uses a fresh session for every post, and the reference as it is', async () => {
    runtime.next(json(503, {}));
    await call(runtime);
    const [first, second] = runtime.commands.map(({ body }) => body);
    expect(first).toMatchObject({ graph_id: 'g', agent_id: 'friday', version: '3', stream: true });
    expect(second?.session_id).not.toBe(first?.session_id);
  });

  it('needs no key, and sends none', async () => {
    const open = await new AgentScopeStub(null).start();
    try {
      const { credentials, redactor } = credentialsFor(open, 'agentscope', { env: undefined });
      const calls = new AgentScopeAdapter(credentials, redactor, QUICK).execute(runtimeRequest(V1), never);
      expect((await hear(calls)).response.status).toBe('succeeded');
      expect(open.commands[0]?.headers.authorization).toBeUndefined();
    } finally {
      await open.close();
    }
  });

  it('cannot be recovered or stopped after a restart', async () => {
    const lost = {
      commandId: 'c',
      correlationId: 'r',
      provider: V1,
      providerRequestId: 'response_1',
      recovery: {},
    };
    expect((await adapter(runtime).recover(lost, never)).failure).toMatchObject({ type: 'outcome_unknown' });
    expect(await adapter(runtime).cancel(lost)).toBe(false);
    expect(runtime.requests).toHaveLength(0);
  });
});

describe('AgentScope 2.0', () => {
  const begun = sessionFrames(['Hello, ']).slice(0, 4);

  it('opens its stream again and reads the replay without saying anything twice', async () => {
    const whole = sessionFrames(['Hello, ', 'world']);
    sessions.next({ pieces: whole.slice(0, 4), then: 'reset' }, { pieces: whole, then: 'silence' });
    const { response, text } = await call(sessions);
    expect(response).toMatchObject({
      status: 'succeeded',
      output: { text: 'Hello, world' },
      usage: { totalTokens: 18 },
    });
    expect(text).toBe('Hello, ');
    expect(sessions.posts).toBe(1);
  });

  it('goes on where only the answer to its post was lost', async () => {
    sessions.chats.push({ instead: 'reset' });
    sessions.next({ pieces: sessionFrames(['Hello']), then: 'silence' });
    expect((await call(sessions)).response).toMatchObject({ status: 'succeeded', output: { text: 'Hello' } });
    expect(sessions.posts).toBe(1);
  });

  it('does not wait for a stream that stays open after the reply', async () => {
    expect((await call(sessions)).response.status).toBe('succeeded');
  });

  it('interrupts a cancelled run as its own user', async () => {
    sessions.next({ pieces: begun, then: 'silence' });
    const cancel = new AbortController();
    const calls = adapter(sessions).execute(runtimeRequest(V2), cancel.signal);
    const { response } = await hear(calls, ({ type }) => {
      if (type === 'runtime.delta') cancel.abort();
    });
    expect(response.status).toBe('cancelled');
    const interrupt = sessions.requests.find(({ path }) => path.endsWith('/interrupt'));
    expect(interrupt?.headers['x-user-id']).toBe(sessions.commands[0]?.headers['x-user-id']);
    expect(interrupt?.query.get('agent_id')).toBe('friday');
  });

  it('does not believe an interruption that the reply does not confirm', async () => {
    sessions.next({ pieces: begun, then: 'silence' });
    sessions.interrupts = 'lies';
    const { response } = await call(sessions, { timeoutPolicy: { totalSeconds: 0.1, idleSeconds: 5 } });
    expect(response.failure).toMatchObject({ type: 'outcome_unknown', code: 'stop_unconfirmed' });
  });

  it.each([
    ['an error', [replyEnd('error', { code: 'E1', message: 'boom' })], 'E1'],
    ['an interruption by somebody', [replyEnd('interrupted')], 'interrupted'],
    ['a question to a person', [sessionEvent('REQUIRE_USER_CONFIRM', { tool_calls: [] })], 'paused'],
  ])('%s is a failure', async (_what, end, code) => {
    sessions.next({ pieces: [...begun, ...end], then: 'silence' });
    expect((await call(sessions)).response.failure).toMatchObject({ type: 'provider_run_failed', code });
  });

  it('a busy session is a refusal that is not posted again', async () => {
    sessions.chats.push(json(409, { detail: 'Session is running' }));
    expect((await call(sessions)).response.failure).toMatchObject({
      type: 'provider_bad_request',
      httpStatus: 409,
    });
    expect(sessions.posts).toBe(1);
  });

  it('used-up iterations leave a partial answer', async () => {
    sessions.next({ pieces: [...begun, replyEnd('exceed_max_iters')], then: 'silence' });
    expect((await call(sessions)).response).toMatchObject({ status: 'succeeded', finishReason: 'partial' });
  });

  it('reports tools and thoughts, and believes the end of a text block', async () => {
    const tool = { tool_call_id: 't1' };
    sessions.next({
      pieces: [
        sessionEvent('REPLY_START'),
        sessionEvent('THINKING_BLOCK_DELTA', { block_id: 'x', delta: 'hm' }),
        sessionEvent('TOOL_CALL_START', { ...tool, tool_call_name: 'search' }),
        sessionEvent('TOOL_CALL_DELTA', { ...tool, delta: '{"q":' }),
        sessionEvent('TOOL_CALL_DELTA', { ...tool, delta: '"sea"}' }),
        sessionEvent('TOOL_CALL_END', tool),
        sessionEvent('TOOL_RESULT_TEXT_DELTA', { ...tool, delta: 'salt' }),
        sessionEvent('TOOL_RESULT_END', { ...tool, state: 'success' }),
        sessionEvent('TEXT_BLOCK_DELTA', { block_id: 'b', delta: 'Salt, pepper' }),
        sessionEvent('TEXT_BLOCK_END', { block_id: 'b', text: 'Salt' }),
        replyEnd(),
      ],
      then: 'silence',
    });
    const { events, response } = await call(sessions);
    expect(events).toContainEqual({
      type: 'runtime.tool_call',
      callId: 't1',
      tool: 'search',
      args: { q: 'sea' },
    });
    expect(events).toContainEqual({
      type: 'runtime.tool_result',
      callId: 't1',
      tool: 'search',
      result: 'salt',
      error: null,
    });
    expect(events).toContainEqual({ type: 'runtime.delta', channel: 'thinking', text: 'hm' });
    expect(response.output?.text).toBe('Salt');
  });

  it('leaves out the replies of others in the same session', async () => {
    const other = { reply_id: 'reply-2', block_id: 'o', delta: 'not ours' };
    sessions.next({
      pieces: [...begun, sessionEvent('TEXT_BLOCK_DELTA', other), replyEnd()],
      then: 'silence',
    });
    expect((await call(sessions)).response.output?.text).toBe('Hello, ');
  });

  describe('after a restart', () => {
    async function pending() {
      const { events } = await call(sessions);
      const started = events.find((event) => event.type === 'runtime.started');
      sessions.requests.length = 0;
      return {
        commandId: 'c',
        correlationId: 'r',
        provider: V2,
        providerRequestId: started?.providerRequestId ?? null,
        recovery: started?.recovery ?? {},
      };
    }

    it('is recovered by the replay', async () => {
      const lost = await pending();
      expect(await adapter(sessions).recover(lost, never)).toMatchObject({
        status: 'succeeded',
        output: { text: 'Hello, world' },
      });
      expect(sessions.posts).toBe(0);
    });

    it('that still runs is unknown', async () => {
      const lost = await pending();
      sessions.next({ pieces: begun, then: 'silence' });
      expect((await adapter(sessions).recover(lost, never)).failure).toMatchObject({
        type: 'outcome_unknown',
      });
    });

    it('is cancelled once the reply confirms it', async () => {
      const lost = await pending();
      sessions.interrupts = 'lies';
      sessions.next({ pieces: begun, then: 'silence' });
      expect(await adapter(sessions).cancel(lost)).toBe(false);
      sessions.next({ pieces: [...begun, replyEnd('interrupted')], then: 'silence' });
      expect(await adapter(sessions).cancel(lost)).toBe(true);
    });
  });
});

describe('a reference to AgentScope', () => {
  it.each([
    [V1, true],
    [V2, true],
    [{ runtimeProvider: 'agentscope', agentscope: { protocolVersion: 2, credentialRef: 'c' } }, false],
    [{ runtimeProvider: 'agentscope', agentscope: { agentId: 'a', credentialRef: '' } }, false],
    [{ runtimeProvider: 'hermes', hermes: { model: 'demo' } }, false],
  ] as [ProviderRef, boolean][])('%j: %s', (ref, isSupported) => {
    expect(adapter(runtime).supports(ref)).toBe(isSupported);
  });
});

describe('numbers and nesting in answers of AgentScope', () => {
  const contract = { outputContract: { type: 'json' as const } };
  const deep = `{"a":${'['.repeat(101)}${']'.repeat(101)}}`;

  it.each([
    ['Runtime 1.1', runtime, processFrames],
    ['sessions', sessions, sessionFrames],
  ] as const)('%s', async (_name, stub, frames) => {
    stub.next({ pieces: frames(['{"id":12345678901', '23456789}']) });
    expect((await call(stub, contract)).response.output?.data).toEqual({ id: '1234567890123456789' });
    stub.next({ pieces: frames([deep]) });
    const { response } = await call(stub, contract);
    expect([response.status, response.failure?.message]).toEqual([
      'failed',
      'the answer is nested deeper than 100 levels',
    ]);
  });
});
