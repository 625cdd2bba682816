import { DifyAdapter } from '../../../src/runtime-adapters/dify/dify-adapter.js';
import type { PendingRuntimeCall } from '../../../src/runtime-adapters/protocol/agent-runtime-adapter.js';
import type { AgentRuntimeEvent } from '../../../src/runtime-adapters/protocol/agent-runtime-event.js';
import type { AgentRuntimeRequest } from '../../../src/runtime-adapters/protocol/agent-runtime-request.js';
import type { ProviderRef } from '../../../src/runtime-adapters/protocol/provider-ref.js';
import { json } from '../../support/providers/play.js';
import {
  CONVERSATION_ID,
  difyChatFrame,
  difyChatFrames,
  difyError,
  difyFinished,
  difyMessageEnd,
  difyRunFrame,
  DifyStub,
  difyWorkflowFrames,
  MESSAGE_ID,
  RUN_ID,
  TASK_ID,
} from '../../support/providers/dify-stub.js';
import { CANARY, credentialsFor, hear, QUICK, runtimeRequest, type Heard } from './harness.js';

type DifyPart = Extract<ProviderRef, { runtimeProvider: 'dify' }>['dify'];

const stub = new DifyStub(CANARY);
const never = new AbortController().signal;

function refOf(appType: DifyPart['appType'], change: Partial<DifyPart> = {}): ProviderRef {
  return {
    runtimeProvider: 'dify',
    dify: { appType, appId: 'app-1', workflowId: null, credentialRef: 'c', ...change },
  };
}

function adapter(): DifyAdapter {
  const { credentials, redactor } = credentialsFor(stub, 'dify');
  return new DifyAdapter(credentials, redactor, QUICK);
}

function call(ref: ProviderRef, change: Partial<AgentRuntimeRequest> = {}): Promise<Heard> {
  return hear(adapter().execute(runtimeRequest(ref, change), never));
}

/** Cancels as soon as the call can be found again. */
async function cancelled(ref: ProviderRef): Promise<Heard> {
  const cancel = new AbortController();
  return hear(adapter().execute(runtimeRequest(ref), cancel.signal), (event: AgentRuntimeEvent) => {
    if (event.type === 'runtime.started') cancel.abort();
  });
}

const WORKFLOW = refOf('workflow');
const CHAT = refOf('chat');
const AGENT = refOf('agent');
const BEGUN = difyWorkflowFrames(['Hello']).slice(0, 3);
const CHAT_BEGUN = difyChatFrames(['Hello']).slice(0, 1);

beforeAll(() => stub.start());
beforeEach(() => {
  stub.reset();
});
afterAll(() => stub.close());

describe('a Dify workflow of which we lost sight', () => {
  it.each(['end', 'reset'] as const)('is resumed by its events (%s)', async (then) => {
    stub.next({ pieces: BEGUN, then });
    stub.events = [
      difyRunFrame('text_chunk', { text: 'Hello' }),
      difyFinished('succeeded', { text: 'Hello again' }),
    ];
    const { response, text } = await call(WORKFLOW);
    expect(response).toMatchObject({ status: 'succeeded', output: { text: 'Hello again' } });
    expect(text).toBe('Hello');
    expect(stub.posts).toBe(1);
  });

  it('is polled where it cannot be resumed, and never posted twice', async () => {
    stub.next({ pieces: BEGUN, then: 'reset' });
    const outputs = '{"text":"Found again"}';
    stub.runs = [
      { status: 'running' },
      { status: 'running' },
      { status: 'succeeded', outputs, total_tokens: 5 },
    ];
    const { response } = await call(WORKFLOW);
    expect(response).toMatchObject({
      status: 'succeeded',
      providerRequestId: RUN_ID,
      output: { text: 'Found again', data: { text: 'Found again' } },
      usage: { totalTokens: 5 },
    });
    expect(stub.posts).toBe(1);
    expect(stub.countOf('GET', /workflows\/run/)).toBe(3);
  });

  it('is polled after a frame that is not whole JSON', async () => {
    stub.next({ pieces: [...BEGUN, 'data: {"event": "text_chunk", "data": {"te\n\n'], then: 'silence' });
    stub.runs = [{ status: 'succeeded', outputs: { text: 'whole' } }];
    expect((await call(WORKFLOW)).response).toMatchObject({ status: 'succeeded', output: { text: 'whole' } });
  });

  it('that stays running for ever ends as unknown, and says so', async () => {
    stub.next({ pieces: BEGUN, then: 'end' });
    stub.runs = [{ status: 'running' }];
    const { response } = await call(WORKFLOW);
    expect(response.failure).toMatchObject({
      type: 'outcome_unknown',
      code: 'still_running',
      retryable: false,
    });
    expect(response.failure?.message).toMatch(/still runs/);
    expect(stub.posts).toBe(1);
  });

  it('that had failed says why', async () => {
    stub.next({ pieces: BEGUN, then: 'end' });
    stub.runs = [{ status: 'failed', error: 'the model is gone' }];
    const { response } = await call(WORKFLOW);
    expect(response.failure).toMatchObject({ type: 'provider_run_failed' });
    expect(response.failure?.message).toContain('the model is gone');
  });
});

describe('the end of a Dify workflow', () => {
  it('partial-succeeded is a success that says partial', async () => {
    stub.next({ pieces: [...BEGUN, difyFinished('partial-succeeded', { text: 'half' })] });
    expect((await call(WORKFLOW)).response).toMatchObject({ status: 'succeeded', finishReason: 'partial' });
  });

  it.each([
    ['failed', difyFinished('failed', {}, 'node llm broke'), 'provider_run_failed', 'failed'],
    ['stopped by somebody', difyFinished('stopped', {}), 'provider_run_failed', 'stopped'],
    ['paused', difyRunFrame('workflow_paused'), 'provider_run_failed', 'paused'],
    ['waiting for a person', difyRunFrame('human_input_required'), 'provider_run_failed', 'paused'],
    ['of a status nobody knows', difyFinished('exploded', {}), 'provider_bad_response', 'status'],
  ])('%s', async (_how, frame, type, code) => {
    stub.next({ pieces: [...BEGUN, frame] });
    expect((await call(WORKFLOW)).response.failure).toMatchObject({ type, code, retryable: false });
  });

  it('gives every output, and the one that reads as its answer', async () => {
    const outputs = { summary: '总结', score: 7, list: [1, 2] };
    stub.next({ pieces: [...BEGUN, difyFinished('succeeded', outputs)] });
    expect((await call(WORKFLOW)).response.output).toEqual({ text: '总结', data: outputs });
  });

  it('after its retrieval of knowledge cannot be traced', async () => {
    stub.next({
      pieces: [
        ...BEGUN,
        difyRunFrame('node_started', { node_type: 'knowledge-retrieval' }),
        difyFinished('succeeded', { text: '[[kb-7]]' }),
      ],
    });
    expect((await call(WORKFLOW)).response).toMatchObject({
      status: 'succeeded',
      traceability: 'untraceable_provider_context',
    });
  });
});

describe('a Dify chat', () => {
  it('tells tokens and price', async () => {
    const { response } = await call(CHAT);
    expect(response.usage).toMatchObject({ promptTokens: 11, cost: { amount: '0.0012', currency: 'USD' } });
  });

  it('of which we lost sight is found in the list of messages', async () => {
    stub.next({ pieces: CHAT_BEGUN, then: 'reset' });
    const message = { id: MESSAGE_ID, conversation_id: CONVERSATION_ID, status: 'normal' };
    stub.messages = [[{ ...message, answer: '' }], [{ ...message, answer: 'Hello, all of it' }]];
    const { response } = await call(CHAT);
    expect(response).toMatchObject({ status: 'succeeded', output: { text: 'Hello, all of it' } });
    expect(stub.posts).toBe(1);
  });

  it('that failed meanwhile is found so', async () => {
    stub.next({ pieces: CHAT_BEGUN, then: 'reset' });
    stub.messages = [[{ id: MESSAGE_ID, status: 'error', error: 'no quota left', answer: '' }]];
    expect((await call(CHAT)).response.failure).toMatchObject({ type: 'provider_run_failed' });
  });

  it('replaces its text where Dify says so', async () => {
    stub.next({
      pieces: [
        ...difyChatFrames(['bad words']).slice(0, 1),
        difyChatFrame('message_replace', { answer: 'no.' }),
        difyMessageEnd(),
      ],
    });
    expect((await call(CHAT)).response.output?.text).toBe('no.');
  });

  it('does not take a piece that equals the text so far for a repetition', async () => {
    stub.next({ pieces: difyChatFrames(['ha', 'ha', 'haha']) });
    expect((await call(CHAT)).response.output?.text).toBe('hahahaha');
  });

  it('with retrieved resources cannot be traced, and fails where sources are required', async () => {
    const end = difyMessageEnd({ retriever_resources: [{ dataset_id: 'd', document_name: 'x' }] });
    const pieces = [difyChatFrame('message', { answer: 'Salt [[kb-7]].' }), end];
    stub.next({ pieces }, { pieces });
    expect((await call(CHAT)).response).toMatchObject({
      status: 'succeeded',
      traceability: 'untraceable_provider_context',
    });
    expect((await call(CHAT, { traceabilityPolicy: { requireSourceRefs: true } })).response).toMatchObject({
      status: 'failed',
      traceability: 'untraceable_provider_context',
      failure: { code: 'source_refs_missing' },
    });
  });

  describe('built as a chatflow', () => {
    const started = difyRunFrame('workflow_started', { id: RUN_ID });
    const said = difyChatFrame('message', { answer: 'flow' });

    it.each([
      ['ends with its workflow', [difyMessageEnd(), difyFinished('succeeded', { answer: 'flow' })]],
      ['may leave out how its workflow ended', [difyMessageEnd()]],
    ])('%s', async (_how, end) => {
      stub.next({ pieces: [started, said, ...end] });
      expect((await call(CHAT)).response).toMatchObject({
        status: 'succeeded',
        output: { text: 'flow' },
        providerRequestId: MESSAGE_ID,
      });
    });

    it('that fails says so twice and counts once', async () => {
      const end = [difyFinished('failed', {}, 'broke'), difyChatFrame('error', difyError(400, 'x', 'broke'))];
      stub.next({ pieces: [started, said, ...end] });
      expect((await call(CHAT)).response.failure).toMatchObject({ type: 'provider_run_failed' });
    });
  });
});

describe('a Dify agent', () => {
  it('does not append the message that repeats its whole answer', async () => {
    const pieces = [
      ...difyChatFrames(['Hello, ', 'world'], 'agent_message').slice(0, -1),
      difyChatFrame('message', { answer: 'Hello, world' }),
      difyMessageEnd(),
    ];
    stub.next({ pieces });
    const { response, text } = await call(AGENT);
    expect(response.output?.text).toBe('Hello, world');
    expect(text).toBe('Hello, world');
  });

  it('reports each tool call and result once, although thoughts come again as they fill up', async () => {
    const thought = {
      id: 't1',
      position: 1,
      thought: '',
      tool: 'search',
      tool_input: '{"search":{"q":"sea"}}',
    };
    stub.next({
      pieces: [
        difyChatFrame('agent_thought', { ...thought, observation: '' }),
        difyChatFrame('agent_thought', { ...thought, observation: '{"search":"salt"}' }),
        difyChatFrame('agent_thought', { ...thought, observation: '{"search":"salt"}' }),
        ...difyChatFrames(['Salt.'], 'agent_message'),
      ],
    });
    const { events, response } = await call(AGENT);
    expect(events.filter(({ type }) => type.startsWith('runtime.tool'))).toEqual([
      { type: 'runtime.tool_call', callId: 't1', tool: 'search', args: { search: { q: 'sea' } } },
      { type: 'runtime.tool_result', callId: 't1', tool: 'search', result: { search: 'salt' }, error: null },
    ]);
    expect(response.traceability).toBe('none');
  });

  it('that asked its own dataset cannot be traced', async () => {
    const thought = { id: 't1', tool: 'dataset_4711', tool_input: '{}', observation: 'x' };
    stub.next({
      pieces: [difyChatFrame('agent_thought', thought), ...difyChatFrames(['a'], 'agent_message')],
    });
    expect((await call(AGENT)).response.traceability).toBe('untraceable_provider_context');
  });
});

describe('refusals of Dify', () => {
  it.each([
    [429, 'too_many_requests', 'rate_limited', true, 2],
    [429, 'rate_limit_error', 'quota_exceeded', false, 1],
    [400, 'provider_quota_exceeded', 'quota_exceeded', false, 1],
    [400, 'invalid_param', 'provider_bad_request', false, 1],
    [400, 'app_unavailable', 'provider_bad_request', false, 1],
    [403, 'forbidden', 'auth_failed', false, 1],
    [413, 'file_too_large', 'provider_bad_request', false, 1],
    [500, 'internal_server_error', 'provider_5xx', false, 1],
  ])('%i %s is %s', async (status, code, type, retryable, posts) => {
    const refusal = json(status, difyError(status, code, 'no'));
    stub.next(refusal, refusal);
    expect((await call(WORKFLOW)).response.failure).toMatchObject({
      type,
      code,
      httpStatus: status,
      retryable,
    });
    expect(stub.posts).toBe(posts);
  });

  it('too_many_requests, posted again, may succeed', async () => {
    stub.next(json(429, difyError(429, 'too_many_requests', 'busy')));
    expect((await call(WORKFLOW)).response.status).toBe('succeeded');
    expect(stub.posts).toBe(2);
  });

  it('a 429 of something before Dify is not posted again', async () => {
    stub.next({ status: 429, pieces: ['slow down'] });
    expect((await call(WORKFLOW)).response.failure).toMatchObject({ type: 'rate_limited' });
    expect(stub.posts).toBe(1);
  });

  it('an error frame before anything had begun is a refusal', async () => {
    stub.next({
      pieces: [
        `data: ${JSON.stringify({ event: 'error', ...difyError(400, 'invalid_param', 'topic is required') })}\n\n`,
      ],
    });
    expect((await call(WORKFLOW)).response.failure).toMatchObject({
      type: 'provider_bad_request',
      httpStatus: 400,
    });
  });
});

describe('stopping in Dify', () => {
  it.each([
    ['workflow', WORKFLOW, BEGUN, /workflows\/tasks\/.*\/stop/],
    ['chat', CHAT, CHAT_BEGUN, /chat-messages\/.*\/stop/],
    ['agent', AGENT, difyChatFrames(['a'], 'agent_message').slice(0, 1), /chat-messages\/.*\/stop/],
  ])(
    'a %s is asked for by its task and the same user, and confirmed by its end',
    async (_app, ref, pieces, path) => {
      stub.next({ pieces, then: 'silence' });
      const { response } = await cancelled(ref);
      expect(response.status).toBe('cancelled');
      const stop = stub.requests.find((request) => path.test(request.path));
      expect(stop?.path).toContain(TASK_ID);
      expect(stop?.body).toEqual({ user: stub.commands[0]?.body?.user });
    },
  );

  it.each(['lies', 'refuses'] as const)('a stop that %s leaves the outcome unknown', async (stops) => {
    stub.next({ pieces: BEGUN, then: 'silence' });
    stub.stops = stops;
    stub.runs = [{ status: 'running' }];
    expect((await cancelled(WORKFLOW)).response.failure).toMatchObject({
      type: 'outcome_unknown',
      code: 'stop_unconfirmed',
      retryable: false,
    });
  });

  it('a stop that lies while the stream stays silent is confirmed by the run itself', async () => {
    stub.next({ pieces: BEGUN, then: 'silence' });
    stub.stops = 'lies';
    stub.runs = [{ status: 'stopped' }];
    expect((await cancelled(WORKFLOW)).response.status).toBe('cancelled');
  });

  it('is what a missed deadline does, too', async () => {
    stub.next({ pieces: BEGUN, then: 'silence' });
    const { response } = await call(WORKFLOW, { timeoutPolicy: { totalSeconds: 0.1, idleSeconds: 5 } });
    expect(response.failure).toMatchObject({ type: 'network_timeout', retryable: false });
    expect(stub.countOf('POST', /stop$/)).toBe(1);
  });

  it('a missed deadline whose stop is not confirmed leaves the outcome unknown', async () => {
    stub.next({ pieces: BEGUN, then: 'silence' });
    stub.stops = 'lies';
    stub.runs = [{ status: 'running' }];
    const { response } = await call(WORKFLOW, { timeoutPolicy: { totalSeconds: 0.1, idleSeconds: 5 } });
    expect(response.failure).toMatchObject({ type: 'outcome_unknown', code: 'stop_unconfirmed' });
  });

  it('learns the task first when it is cancelled before the first frame', async () => {
    const cancel = new AbortController();
    stub.next({ pieces: [...BEGUN], then: 'silence' });
    const heard = hear(adapter().execute(runtimeRequest(WORKFLOW), cancel.signal));
    while (stub.posts === 0) await new Promise((resolve) => setImmediate(resolve));
    cancel.abort();
    expect((await heard).response.status).toBe('cancelled');
    expect(stub.countOf('POST', /stop$/)).toBe(1);
  });
});

describe('blocking', () => {
  it.each([
    ['chat', refOf('chat', { responseMode: 'blocking' }), 'blocking'],
    ['workflow', refOf('workflow', { responseMode: 'blocking' }), 'blocking'],
    ['agent, which Dify only streams', refOf('agent', { responseMode: 'blocking' }), 'streaming'],
  ])('%s', async (_app, ref, mode) => {
    expect((await call(ref)).response).toMatchObject({
      status: 'succeeded',
      output: { text: 'Hello, world' },
    });
    expect(stub.commands[0]?.body?.response_mode).toBe(mode);
  });

  it('that is cut cannot be recovered, and is not posted again', async () => {
    stub.next({ instead: 'reset' });
    const { response } = await call(refOf('workflow', { responseMode: 'blocking' }));
    expect(response.failure).toMatchObject({ type: 'outcome_unknown', code: 'connection_lost' });
    expect(stub.posts).toBe(1);
  });
});

describe('what Dify is sent', () => {
  it('has a trace id of its form', async () => {
    await call(WORKFLOW);
    expect(stub.commands[0]?.headers['x-trace-id']).toBe('0b0e6a5e-7d0c-4c52-9d0a-1f1e1d1c1b1a-1');
  });

  it('gives a workflow the parts by name, and the keys of an instruction that is an object', async () => {
    const { inputEnvelope } = runtimeRequest(WORKFLOW);
    await call(WORKFLOW, { inputEnvelope: { ...inputEnvelope, instruction: '{"topic":"sea","lines":4}' } });
    expect(stub.commands[0]?.body?.inputs).toMatchObject({
      topic: 'sea',
      lines: 4,
      context: 'Context:\n[chapter-1] It rained.',
      knowledge: 'Knowledge:\n[kb-7] The sea is salty.',
    });
  });

  it('goes to the pinned version where the reference is one', async () => {
    await call(refOf('workflow', { workflowId: 'wf-1' }));
    await call(refOf('workflow', { workflowId: RUN_ID }));
    expect(stub.commands.map(({ path }) => path)).toEqual([
      '/v1/workflows/run',
      `/v1/workflows/${RUN_ID}/run`,
    ]);
  });
});

describe('after a restart', () => {
  async function pending(ref: ProviderRef): Promise<PendingRuntimeCall> {
    const { events } = await call(ref);
    const started = events.findLast((event) => event.type === 'runtime.started');
    stub.requests.length = 0;
    return {
      commandId: 'c:1',
      correlationId: 'run-1',
      provider: ref,
      providerRequestId: started?.providerRequestId ?? null,
      recovery: started?.recovery ?? {},
    };
  }

  it('a workflow is recovered by polling', async () => {
    const lost = await pending(WORKFLOW);
    stub.runs = [{ status: 'running' }, { status: 'succeeded', outputs: { text: 'there' } }];
    expect(await adapter().recover(lost, never)).toMatchObject({
      status: 'succeeded',
      providerRequestId: RUN_ID,
      output: { text: 'there' },
    });
    expect(stub.requests.every(({ method }) => method === 'GET')).toBe(true);
  });

  it('a chat is recovered by its message', async () => {
    const lost = await pending(CHAT);
    stub.messages = [[{ id: MESSAGE_ID, answer: 'there' }]];
    expect(await adapter().recover(lost, never)).toMatchObject({
      status: 'succeeded',
      output: { text: 'there' },
    });
    expect(stub.requests.every(({ method }) => method === 'GET')).toBe(true);
  });

  it.each([
    ['that Dify does not know', [], 'not_found'],
    ['that runs for ever', [{ status: 'running' }], 'still_running'],
  ])('a run %s is unknown', async (_what, runs, code) => {
    const lost = await pending(WORKFLOW);
    stub.runs = runs;
    expect((await adapter().recover(lost, never)).failure).toMatchObject({ type: 'outcome_unknown', code });
  });

  it('a call without a provider id is unknown', async () => {
    const lost = { ...(await pending(WORKFLOW)), providerRequestId: null, recovery: {} };
    expect((await adapter().recover(lost, never)).failure).toMatchObject({ code: 'no_provider_id' });
    expect(stub.requests).toHaveLength(0);
  });

  it('required sources cannot be proved any more, and fail closed', async () => {
    const lost = await pending(WORKFLOW);
    stub.runs = [{ status: 'succeeded', outputs: { text: '[[kb-7]]' } }];
    const recovery = { ...lost.recovery, sourceRefs: 'required' };
    expect((await adapter().recover({ ...lost, recovery }, never)).failure?.code).toBe('source_refs_missing');
  });

  it('recovery stops when it is told to', async () => {
    const lost = await pending(WORKFLOW);
    stub.runs = [{ status: 'running' }];
    expect((await adapter().recover(lost, AbortSignal.timeout(50))).failure?.type).toBe('outcome_unknown');
  });

  it('a run is cancelled, once Dify confirms it', async () => {
    const lost = await pending(WORKFLOW);
    stub.runs = [{ status: 'running' }];
    stub.stops = 'lies';
    expect(await adapter().cancel(lost)).toBe(false);
    stub.stops = 'confirms';
    expect(await adapter().cancel(lost)).toBe(true);
  });
});

describe('a reference to Dify', () => {
  it.each([
    [refOf('agent'), true],
    [refOf('agent', { appId: null }), false],
    [refOf('chat', { appId: '' }), false],
    [refOf('workflow', { appId: null, workflowId: 'w' }), true],
    [refOf('workflow', { appId: null }), false],
    [refOf('workflow', { credentialRef: '' }), false],
    [{ runtimeProvider: 'hermes', hermes: { model: 'demo' } }, false],
  ] as [ProviderRef, boolean][])('%j: %s', (ref, isSupported) => {
    expect(adapter().supports(ref)).toBe(isSupported);
  });
});

describe('numbers and nesting', () => {
  it('keeps the digits of outputs that a number would lose, as text', async () => {
    const end = difyFinished('succeeded', { id: 'ID', n: 'N' });
    const pieces = [
      ...BEGUN,
      end.replace('"ID"', '1234567890123456789').replace('"N"', '9007199254740993.0'),
    ];
    stub.next({ pieces });
    const { response } = await call(WORKFLOW);
    expect(response.output?.data).toEqual({ id: '1234567890123456789', n: '9007199254740993.0' });
  });

  it('says that an answer is nested too deep', async () => {
    const deep = `{"a":${'['.repeat(101)}${']'.repeat(101)}}`;
    stub.next({ pieces: difyChatFrames([deep]) });
    const { response } = await call(CHAT, { outputContract: { type: 'json' } });
    expect([response.status, response.failure?.type, response.failure?.message]).toEqual([
      'failed',
      'provider_bad_response',
      'the answer is nested deeper than 100 levels',
    ]);
  });

  it('refuses an instruction whose inputs a number would change, before anything is sent', async () => {
    const request = runtimeRequest(WORKFLOW);
    const inputEnvelope = { ...request.inputEnvelope, instruction: '{"order":{"id":1234567890123456789}}' };
    const { response } = await call(WORKFLOW, { inputEnvelope });
    expect(response.failure).toMatchObject({
      type: 'provider_bad_request',
      message: expect.stringContaining('order.id: the integer 1234567890123456789 is outside') as string,
    });
    expect(stub.commands).toEqual([]);
  });
});
