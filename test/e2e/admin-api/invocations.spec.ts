import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { request as httpRequest, type ClientRequest, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import pg from 'pg';
import { AdminClient, type AdminAnswer } from '../../support/admin-client.js';
import { startInProcessServer, type InProcessServer } from '../../support/in-process-server.js';
import { DifyStub } from '../../support/providers/dify-stub.js';
import { newApiError, newApiFrames, NewApiStub } from '../../support/providers/new-api-stub.js';
import { htmlPage, json } from '../../support/providers/play.js';

const CANARY = 'sk-canary-31f0-never-shown';

let server: InProcessServer;
let admin: AdminClient;
let newApi: NewApiStub;
let dify: DifyStub;
let serial = 0;

beforeAll(async () => {
  newApi = await new NewApiStub(CANARY).start();
  dify = await new DifyStub(CANARY).start();
  server = await startInProcessServer({
    TEST_CANARY: CANARY,
    CREDENTIALS: JSON.stringify({
      'new-api': { provider: 'new-api', env: 'TEST_CANARY', baseUrl: newApi.baseUrl },
      dify: { provider: 'dify', env: 'TEST_CANARY', baseUrl: dify.baseUrl },
    }),
  });
  admin = new AdminClient(server.url, 'demo-admin-key');
  await publish('writer', {
    runtimeProvider: 'new-api',
    newApi: { model: 'm', credentialRef: 'new-api' },
    instructions: 'You write.',
    envelope: { allow: ['instruction', 'contextSummary', 'formatRequirements'], maxChars: 1000 },
  });
  await publish('parser', {
    runtimeProvider: 'dify',
    dify: { appType: 'workflow', workflowId: 'w-1', credentialRef: 'dify' },
  });
});
beforeEach(() => {
  newApi.reset();
  dify.reset();
});
afterAll(async () => {
  await server.close();
  await newApi.close();
  await dify.close();
});

async function publish(agentKey: string, config: unknown): Promise<void> {
  expect(await admin.post('/agents', { agentKey })).toMatchObject({ status: 201 });
  expect(await admin.post(`/agents/${agentKey}/versions`, { config })).toMatchObject({ status: 201 });
  expect(await admin.post(`/agents/${agentKey}/versions/1/publish`, { reason: 'r' })).toMatchObject({
    status: 200,
  });
}

function invocation(more: object = {}) {
  serial += 1;
  return { commandId: `inv-${serial}`, scenario: 'rewrite', instruction: 'Rewrite this', ...more };
}
const invoke = (body: object, agentKey = 'writer'): Promise<AdminAnswer> =>
  admin.post(`/agents/${agentKey}/invocations`, body);

describe('an invocation', () => {
  it('answers as the contract says, and is in the ledger', async () => {
    const body = invocation();
    expect(await invoke(body)).toEqual({
      status: 200,
      code: 'OK',
      message: '',
      data: {
        commandId: body.commandId,
        status: 'succeeded',
        outputSummary: 'Hello, world',
        provider: 'new-api',
        providerRequestId: 'req-20260101-1',
        usage: {
          promptTokens: 11,
          completionTokens: 7,
          totalTokens: 18,
          durationMs: expect.any(Number) as number,
        },
        traceability: 'none',
        finishReason: 'stop',
        failure: null,
        candidateId: null,
      },
    });
    expect(await admin.get(`/runtime-calls/${body.commandId}`)).toMatchObject({
      data: {
        commandId: body.commandId,
        runId: null,
        nodeId: null,
        status: 'SUCCEEDED',
        agentKey: 'writer',
        version: 1,
        attribution: 'attributed',
        usage: { totalTokens: 18 },
        snapshot: { parts: [{ kind: 'instructions' }, { kind: 'instruction' }] },
        trimmed: [],
      },
    });
    expect(await admin.get('/runtime-calls/none')).toMatchObject({ status: 404 });
    expect(await admin.get('/agents/writer')).toMatchObject({
      data: { lastRun: { commandId: body.commandId, status: 'SUCCEEDED' } },
    });
  });

  it('sends what the envelope allows and nothing else', async () => {
    const body = invocation({
      context: [
        { kind: 'contextSummary', ref: 'chapter-1', text: 'allowed-part' },
        { kind: 'knowledge', ref: 'kb-1', text: 'private-part' },
      ],
      formatRequirements: 'short-form',
    });
    await invoke(body);
    const sent = JSON.stringify(newApi.commands[0]?.body);
    for (const part of ['You write.', 'Rewrite this', 'allowed-part', 'short-form'])
      expect(sent).toContain(part);
    expect(sent).not.toContain('private-part');
    expect(await admin.get(`/runtime-calls/${body.commandId}`)).toMatchObject({
      data: { trimmed: [{ part: 'knowledge', ref: 'kb-1', reason: 'not_allowed' }] },
    });
  });

  it('refuses permissions, tools and secrets that a caller reports of itself', async () => {
    const refused = await invoke(
      invocation({ tools: ['shell'], permissions: ['all'], envelope: { allow: ['knowledge'] }, apiKey: 'x' }),
    );
    expect(refused).toMatchObject({ status: 400, code: 'VALIDATION_FAILED' });
    expect(refused.details?.map(({ field }) => field).sort()).toEqual([
      'apiKey',
      'envelope',
      'permissions',
      'tools',
    ]);
    expect(newApi.posts).toBe(0);
  });

  it('names every malformed field', async () => {
    const refused = await invoke({
      commandId: '',
      scenario: 1,
      context: [{ kind: 'all', ref: '', text: 1 }],
    });
    expect(refused.details?.map(({ field }) => field).sort()).toEqual([
      'commandId',
      'context.0.kind',
      'context.0.ref',
      'context.0.text',
      'instruction',
      'scenario',
    ]);
  });

  it('takes no command id that a run may come to use', async () => {
    const visit = randomUUID();
    for (const commandId of [`${visit}:1`, `${visit.toUpperCase()}:2`, `${visit}:1:2`]) {
      const refused = await invoke(invocation({ commandId }));
      expect(refused).toMatchObject({ status: 400, details: [{ field: 'commandId' }] });
    }
    expect(newApi.posts).toBe(0);
    expect(await invoke(invocation({ commandId: visit }))).toMatchObject({ status: 200 });
  });

  it('of an agent that is not there is 404, without published version 409', async () => {
    expect(await invoke(invocation(), 'nobody')).toMatchObject({ status: 404, code: 'AGENT_NOT_FOUND' });
    await admin.post('/agents', { agentKey: 'unpublished' });
    expect(await invoke(invocation(), 'unpublished')).toMatchObject({ status: 409, code: 'CONFLICT' });
  });

  it('answers a provider’s failure with 200 and what the caller may do', async () => {
    newApi.next(json(429, newApiError('too many', '')));
    expect(await invoke(invocation())).toMatchObject({
      status: 200,
      data: {
        status: 'retryable_failed',
        failure: { type: 'rate_limited', httpStatus: 429, retryable: true },
        candidateId: null,
      },
    });
    newApi.next(json(401, newApiError('Incorrect API key provided')));
    expect(await invoke(invocation())).toMatchObject({
      status: 200,
      data: { status: 'failed', failure: { type: 'auth_failed', retryable: false } },
    });
  });
});

describe('the same command', () => {
  it('is sent once, however often it comes, also at the same instant', async () => {
    const body = invocation();
    const answers = await Promise.all(Array.from({ length: 8 }, () => invoke(body)));
    const later = await invoke(body);
    expect(new Set([...answers, later].map((answer) => JSON.stringify(answer))).size).toBe(1);
    expect(newApi.posts).toBe(1);
  });

  it('for something else is a conflict', async () => {
    const body = invocation();
    await invoke(body);
    expect(await invoke({ ...body, instruction: 'Other' })).toMatchObject({
      status: 409,
      code: 'IDEMPOTENCY_CONFLICT',
    });
    expect(await invoke(body, 'parser')).toMatchObject({ status: 409, code: 'IDEMPOTENCY_CONFLICT' });
    expect(newApi.posts).toBe(1);
  });
});

describe('as a stream', () => {
  async function frames(body: object): Promise<{ event: string; data: Record<string, unknown> }[]> {
    const answer = await admin.fetch('POST', '/agents/writer/invocations', body, {
      accept: 'text/event-stream',
    });
    expect(answer.headers.get('content-type')).toBe('text/event-stream');
    return (await answer.text())
      .split('\n\n')
      .filter((frame) => frame.startsWith('event: '))
      .map((frame) => {
        const [, event = '', data = ''] = /^event: (\S+)\ndata: (.*)$/s.exec(frame) ?? [];
        return { event, data: JSON.parse(data) as Record<string, unknown> };
      });
  }

  it('tells the runtime events by name, the request first, the response last', async () => {
    const body = invocation();
    const events = await frames(body);
    expect(events[0]).toEqual({
      event: 'runtime.requested',
      data: { type: 'runtime.requested', commandId: body.commandId },
    });
    expect(events.filter(({ event }) => event === 'runtime.delta').length).toBeGreaterThan(0);
    expect(events.at(-1)).toMatchObject({
      event: 'runtime.completed',
      data: { status: 'succeeded', commandId: body.commandId, response: { outputSummary: 'Hello, world' } },
    });
    const again = await frames(body);
    expect(again.map(({ event }) => event)).toEqual(['runtime.requested', 'runtime.completed']);
    expect(newApi.posts).toBe(1);
  });

  it('answers what is refused before it as JSON', async () => {
    const answer = await admin.fetch(
      'POST',
      '/agents/writer/invocations',
      {},
      { accept: 'text/event-stream' },
    );
    expect(answer.status).toBe(400);
    expect(answer.headers.get('content-type')).toContain('application/json');
    await answer.text();
  });

  it('to a client that does not read goes on without it', async () => {
    const piece = 'x'.repeat(100_000);
    newApi.next({ pieces: newApiFrames(Array.from({ length: 160 }, () => piece)) });
    const body = invocation();
    const stalled = post(server.url, 'writer', body, 'text/event-stream');
    const [answer] = (await once(stalled, 'response')) as [IncomingMessage];
    answer.on('error', () => undefined).pause();
    expect(await invoke(body)).toMatchObject({ status: 200, data: { status: 'succeeded' } });
    stalled.destroy();
  });

  it('ends with the failure', async () => {
    newApi.next(htmlPage(200));
    expect((await frames(invocation())).at(-1)).toMatchObject({
      event: 'runtime.failed',
      data: { status: 'failed', failure: { type: 'provider_bad_response' } },
    });
  });
});

describe('usage', () => {
  it('is rolled up by agent, workflow and day, and attributed only with a New-API request id', async () => {
    await invoke(invocation(), 'parser');
    const { data } = await admin.get<{ items: Record<string, unknown>[] }>('/usage?groupBy=agent');
    const parser = data.items.find((row) => row.agentKey === 'parser');
    const writer = data.items.find((row) => row.agentKey === 'writer');
    expect(parser).toMatchObject({ calls: 1, succeeded: 1, attributed: 0, unattributed: 1 });
    expect(writer).toMatchObject({ promptTokens: expect.any(Number) as number });
    expect(Number(writer?.attributed)).toBeGreaterThan(0);
    const today = new Date().toISOString().slice(0, 10);
    const rolled = await admin.get<{ items: unknown[] }>('/usage');
    expect(rolled.data.items).toContainEqual(
      expect.objectContaining({ day: today, agentKey: 'parser', workflowName: null, calls: 1 }),
    );
    const filtered = await admin.get<{ items: unknown[] }>('/usage?agentKey=parser&groupBy=day,provider');
    expect(filtered.data.items).toMatchObject([{ day: today, provider: 'dify', calls: 1 }]);
    expect(await admin.get('/usage?groupBy=hour')).toMatchObject({ status: 400 });
    expect(await admin.get('/usage?from=2020-01-01&to=2026-01-01')).toMatchObject({ status: 400 });
  });
});

describe('the runtime calls', () => {
  it('are filtered and paged, newest first', async () => {
    const ids = [invocation(), invocation(), invocation()];
    for (const body of ids) await invoke(body);
    type Page = { items: { commandId: string }[]; nextCursor: string | null };
    const first = await admin.get<Page>('/runtime-calls?agentKey=writer&status=SUCCEEDED&limit=2');
    const second = await admin.get<Page>(
      `/runtime-calls?agentKey=writer&status=SUCCEEDED&limit=1&cursor=${first.data.nextCursor}`,
    );
    const seen = [...first.data.items, ...second.data.items].map(({ commandId }) => commandId);
    expect(seen).toEqual(ids.map(({ commandId }) => commandId).reverse());
    expect((await admin.get<Page>('/runtime-calls?provider=hermes')).data.items).toEqual([]);
    expect((await admin.get<Page>('/runtime-calls?runId=none&nodeId=n')).data.items).toEqual([]);
    expect(await admin.get('/runtime-calls?status=GONE')).toMatchObject({ status: 400 });
  });
});

describe('the canary key', () => {
  it('is found nowhere, on success and on each failure', async () => {
    const seen: unknown[] = [];
    const echo = `your key ${CANARY} is wrong`;
    for (const play of [
      null,
      json(401, newApiError(echo)),
      json(400, newApiError(echo)),
      json(500, newApiError(echo)),
      json(200, newApiError(echo)),
      { pieces: [`data: {"error":{"message":"${echo}"}}\n\n`] },
      { pieces: [`data: {"choices":[{"delta":{"content":"${echo}"}}]}\n\n`], then: 'reset' as const },
      { instead: 'reset' as const },
    ]) {
      if (play) newApi.next(play);
      const body = invocation();
      seen.push(await invoke(body), await admin.get(`/runtime-calls/${body.commandId}`));
      if (play) newApi.next(play);
      const streamed = await admin.fetch('POST', '/agents/writer/invocations', invocation(), {
        accept: 'text/event-stream',
      });
      seen.push(await streamed.text());
    }
    // Sent by a caller: refused before it leaves.
    const before = newApi.posts;
    const smuggled = await invoke(invocation({ instruction: `use ${CANARY}`, scenario: 'x' }));
    expect(smuggled).toMatchObject({ data: { failure: { type: 'permission_denied' } } });
    expect(newApi.posts).toBe(before);
    seen.push(smuggled, await admin.get('/audit-logs?limit=100'), await admin.get('/credentials'));
    expect(JSON.stringify(seen)).not.toContain(CANARY);
    expect(await everyRow(server.databaseUrl)).not.toContain(CANARY);
  });
});

async function everyRow(url: string): Promise<string> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows: tables } = await client.query<{ name: string }>(
      `SELECT quote_ident(tablename) AS name FROM pg_tables WHERE schemaname = 'public'`,
    );
    const dumps: string[] = [];
    for (const { name } of tables) {
      const { rows } = await client.query<{ row: string }>(`SELECT t::text AS row FROM ${name} t`);
      dumps.push(...rows.map(({ row }) => row));
    }
    expect(dumps.length).toBeGreaterThan(10);
    return dumps.join('\n');
  } finally {
    await client.end();
  }
}

describe('a repeat that waits for another process', () => {
  it('is told to come again when its server stops', async () => {
    const stopping = await startInProcessServer({ CREDENTIALS: '{}' });
    const client = new AdminClient(stopping.url, 'demo-admin-key');
    const database = new pg.Client(stopping.databaseUrl);
    await database.connect();
    const config = { runtimeProvider: 'hermes', hermes: { model: 'demo' } };
    await client.post('/agents', { agentKey: 'elsewhere' });
    await client.post('/agents/elsewhere/versions', { config });
    await client.post('/agents/elsewhere/versions/1/publish', { reason: 'r' });
    const body = invocation();
    await client.post('/agents/elsewhere/invocations', body);
    // As if another process, which is alive, were executing it.
    await database.query(`INSERT INTO runtime_call_owners VALUES ('another', now() + interval '1 hour')`);
    await database.query(
      `UPDATE runtime_calls SET status = 'STARTED', owner = 'another' WHERE command_id = $1`,
      [body.commandId],
    );
    await database.end();
    const repeat = post(stopping.url, 'elsewhere', body);
    await once(repeat, 'finish');
    // Answered after the repeat was read: the server takes what came first first.
    await client.get('/agents/elsewhere');
    const answered = once(repeat, 'response') as Promise<[IncomingMessage]>;
    await stopping.close();
    const [answer] = await answered;
    expect(answer.statusCode).toBe(503);
    expect(JSON.parse(await text(answer))).toMatchObject({ code: 'SERVICE_UNAVAILABLE', data: null });
  });
});

/** An invocation whose connection the test holds in its hand. */
function post(url: string, agentKey: string, body: object, accept = 'application/json'): ClientRequest {
  const request = httpRequest(`${url}/admin/v1/agents/${agentKey}/invocations`, {
    method: 'POST',
    headers: { 'x-admin-key': 'demo-admin-key', 'content-type': 'application/json', accept },
  });
  request.on('error', () => undefined).end(JSON.stringify(body));
  return request;
}
