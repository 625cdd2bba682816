import { randomUUID } from 'node:crypto';
import {
  startContextApp,
  type ContextApp,
  type ContextQueryConfig,
} from '../../../test/support/context-query/context-app.js';
import { send, type Answer, type RequestParts } from '../../../test/support/context-query/context-client.js';
import { RecordedRun } from '../../../test/factories/recorded-run.js';
import type { VisitRef } from '../../events/run-event.js';

let app: ContextApp;
/** A → B → G → C, after a first visit of C and beside a node X that leads nowhere. */
let run: RecordedRun;
let visits: Record<'a' | 'b' | 'c1' | 'x' | 'g' | 'c', VisitRef>;

function buildRun(): void {
  run = new RecordedRun();
  const a = run.begin('A', [], 'userInput');
  run.end(a, { topic: '主题' });
  const b = run.begin('B', [a]);
  run.think(b, '第一', '步');
  run.log(b, { type: 'tool_call', tool: 'search', callId: '1', args: '{q:1}' });
  run.log(b, { type: 'tool_result', tool: 'search', callId: '1', result: '结果摘要', error: null });
  run.log(b, { type: 'tool_call', tool: 'calc', callId: '2', args: { x: 2 } });
  run.think(b, '第二步');
  run.log(b, { type: 'todo', todos: [{ text: '任务A', status: 'pending' }] });
  run.log(b, {
    type: 'todo',
    todos: [
      { text: '任务A', status: 'completed' },
      { text: '任务B', status: 'pending' },
    ],
  });
  run.end(b, { result: 'hello', count: 10, 'a.b': 'exact', a: { b: 'path' }, long: '字'.repeat(50_000) });
  const c1 = run.begin('C', [b]);
  run.end(c1, { n: 1 });
  const x = run.begin('X', [a]);
  run.end(x, { secret: true });
  const g = run.begin('G', [b]);
  run.fail(g, 'no luck');
  const c = run.begin('C', [g]);
  run.think(c, 'so far');
  visits = { a, b, c1, x, g, c };
}

function tokenOf(of: ContextApp, visit: VisitRef, runId = run.runId): string {
  const issued = of.tokens.issue({ runId, ...visit, notAfter: new Date(Date.now() + 60_000) });
  if (!issued) throw new Error('no token was issued');
  return issued.token;
}

function ask(
  query: 'path' | 'output' | 'meta',
  body: RequestParts['body'],
  headers: RequestParts['headers'] = {},
): Promise<Answer> {
  const token = 'X-Context-Token' in headers ? {} : { 'X-Context-Token': tokenOf(app, visits.c) };
  return send(`${app.url}/internal/context/${query}`, { body, headers: { ...token, ...headers } });
}

async function withApp(
  contextQuery: Partial<ContextQueryConfig>,
  use: (other: ContextApp) => Promise<void>,
): Promise<void> {
  const other = await startContextApp({ contextQuery });
  try {
    await use(other);
  } finally {
    await other.close();
  }
}

beforeAll(async () => {
  buildRun();
  app = await startContextApp();
  for (const event of run.events) app.bus.publish(event);
});
afterAll(() => app.close());

describe('path', () => {
  test('answers as the spec’s second example', async () => {
    const answer = await ask('path', { runId: run.runId, visitUuid: visits.c.visitUuid });
    const visitUuids = [visits.a, visits.b, visits.g, visits.c].map(({ visitUuid }) => visitUuid);
    expect(answer.status).toBe(200);
    expect(answer.json).toEqual({
      code: 200,
      message: 'success',
      data: {
        visitUuids,
        nodeIds: ['A', 'B', 'G', 'C'],
        paths: [{ sequence: ['A', 'B', 'G', 'C'], visitUuids, hasBacktrack: true }],
        backtrackEdgeKeys: ['G->C'],
      },
    });
  });

  test('takes a UUID in upper case', async () => {
    const answer = await ask('path', { runId: run.runId, visitUuid: visits.c.visitUuid.toUpperCase() });
    expect(answer.status).toBe(200);
  });

  test.each([() => visits.b.visitUuid, () => randomUUID()])('of another visit is 403', async (other) => {
    const answer = await ask('path', { runId: run.runId, visitUuid: other() });
    expect(answer.json).toEqual({ code: 403, message: 'the token belongs to another visit', data: null });
  });
});

describe('output', () => {
  test('is the whole data', async () => {
    const answer = await ask('output', { runId: run.runId, nodeId: 'A', field: null, iterSeq: null });
    expect(answer.json?.data).toEqual({
      nodeId: 'A',
      iterSeq: 1,
      visitUuid: visits.a.visitUuid,
      status: 200,
      message: '调用成功',
      data: { topic: '主题' },
      requestedField: null,
    });
  });

  test.each([
    ['result', 'hello'],
    ['a.b', 'exact'],
    ['a', { b: 'path' }],
  ])('is the field %s', async (field, data) => {
    const answer = await ask('output', { runId: run.runId, nodeId: 'B', field });
    expect(answer.json?.data).toMatchObject({ data, requestedField: field });
    expect(answer.json?.data).not.toHaveProperty('truncated');
  });

  test('without a field is everything, too long strings cut', async () => {
    const answer = await ask('output', { runId: run.runId, nodeId: 'B', field: '' });
    expect(answer.json?.data).toMatchObject({
      data: { count: 10, long: '字'.repeat(Math.floor(102_400 / 3)) },
      requestedField: null,
      truncated: true,
    });
  });

  test('of a missing field is 404 with the keys there are', async () => {
    const answer = await ask('output', { runId: run.runId, nodeId: 'B', field: 'nope' });
    expect([answer.status, answer.json?.code, answer.json?.data]).toEqual([404, 404, null]);
    expect(answer.json?.message).toContain('result, count, a.b, a, long');
  });

  test('of a failed visit is its error', async () => {
    for (const field of [null, 'any']) {
      const answer = await ask('output', { runId: run.runId, nodeId: 'G', field });
      expect(answer.json?.data).toMatchObject({
        status: 500,
        message: 'no luck',
        data: null,
        requestedField: field,
      });
    }
  });

  test('of the own node is what an earlier visit left, if that is an ancestor', async () => {
    const refused = await ask('output', { runId: run.runId, nodeId: 'C' });
    expect(refused.status).toBe(404);
    const unfinished = await ask('output', { runId: run.runId, nodeId: 'C', iterSeq: 2 });
    expect(unfinished.json).toEqual({ code: 404, message: 'this visit of C has no output yet', data: null });
  });

  test('of what is no ancestor is 404 in the very words of what does not exist', async () => {
    const texts = await Promise.all(
      ['X', 'Y'].map(async (nodeId) =>
        (await ask('output', { runId: run.runId, nodeId })).text.replace(nodeId, '?'),
      ),
    );
    expect(texts[0]).toBe(texts[1]);
    expect((await ask('output', { runId: run.runId, nodeId: 'C', iterSeq: 1 })).status).toBe(404);
    expect((await ask('output', { runId: run.runId, nodeId: 'B', iterSeq: 2 })).status).toBe(404);
  });
});

describe('meta', () => {
  const head = () => ({ nodeId: 'B', iterSeq: 1, visitUuid: visits.b.visitUuid });
  const thinking = '第一步\n第二步';
  const toolCalls = [
    { tool: 'search', args: '{q:1}' },
    { tool: 'search', result: '结果摘要' },
    { tool: 'calc', args: '{"x":2}' },
  ];
  const todoList = [
    { text: '任务A', status: 'completed' },
    { text: '任务B', status: 'pending' },
  ];

  test.each([
    ['THINKING', { thinking }],
    ['TOOL_CALLS', { toolCalls }],
    ['TODO', { todoList }],
  ])('%s answers that part only', async (kind, part) => {
    const answer = await ask('meta', { runId: run.runId, visitUuid: null, nodeId: 'B', kind, iterSeq: null });
    expect(answer.json?.data).toEqual({ ...head(), ...part });
  });

  test.each(['ALL', null, '', undefined])('kind %p answers everything, with the log', async (kind) => {
    const answer = await ask('meta', { runId: run.runId, nodeId: 'B', kind });
    expect(answer.json?.data).toMatchObject({ ...head(), thinking, toolCalls, todoList });
    const { logs } = answer.json?.data as unknown as { logs: { type: string; timestamp: string }[] };
    expect(logs.map(({ type }) => type)).toEqual([
      'THINKING',
      'TOOL_CALL',
      'TOOL_RESULT',
      'TOOL_CALL',
      'THINKING',
      'TODO_UPDATE',
      'TODO_UPDATE',
    ]);
    const timestamp = logs[0]?.timestamp ?? '';
    expect(logs[0]).toEqual({ type: 'THINKING', timestamp, message: '第一步', detail: null });
    expect(new Date(timestamp).toISOString()).toBe(timestamp);
  });

  test('a visit’s UUID wins over a node', async () => {
    const answer = await ask('meta', {
      runId: run.runId,
      visitUuid: visits.g.visitUuid,
      nodeId: 'B',
      iterSeq: 7,
    });
    expect(answer.json?.data).toMatchObject({
      nodeId: 'G',
      thinking: '',
      logs: [{ type: 'ERROR', message: 'no luck' }],
    });
  });

  test('of the own visit is what it has done so far', async () => {
    const answer = await ask('meta', { runId: run.runId, visitUuid: visits.c.visitUuid, kind: 'THINKING' });
    expect(answer.json?.data).toMatchObject({ nodeId: 'C', iterSeq: 2, thinking: 'so far' });
  });

  test('of a node that is no agent is empty', async () => {
    const answer = await ask('meta', { runId: run.runId, nodeId: 'A' });
    expect(answer.json?.data).toEqual({
      nodeId: 'A',
      iterSeq: 1,
      visitUuid: visits.a.visitUuid,
      thinking: '',
      toolCalls: [],
      todoList: [],
      logs: [],
    });
  });

  test('of a visit that is no ancestor is 404 in the very words of one that does not exist', async () => {
    const unknown = randomUUID();
    const [hidden, missing] = await Promise.all(
      [visits.x.visitUuid, unknown].map((visitUuid) => ask('meta', { runId: run.runId, visitUuid })),
    );
    expect(hidden?.status).toBe(404);
    expect(hidden?.text.replace(visits.x.visitUuid, unknown)).toBe(missing?.text);
  });
});

describe('refusals', () => {
  const queries = ['path', 'output', 'meta'] as const;

  test.each(queries)('%s without a live token is 401, whatever the body', async (query) => {
    const revoked = tokenOf(app, visits.c);
    app.tokens.revoke(revoked);
    const tokens = [undefined, '', 'x', 'a'.repeat(48), revoked, [tokenOf(app, visits.c), 'x']];
    for (const token of tokens) {
      for (const body of [{ runId: run.runId, visitUuid: visits.c.visitUuid, nodeId: 'B' }, '{', undefined]) {
        const answer = await ask(query, body, { 'X-Context-Token': token });
        expect([answer.status, answer.json]).toEqual([
          401,
          { code: 401, message: 'the context token is missing or not valid', data: null },
        ]);
      }
    }
  });

  test('a token of another run is 403, a run of another token too', async () => {
    const body = { runId: 'another', visitUuid: visits.c.visitUuid, nodeId: 'B' };
    for (const query of queries) {
      expect((await ask(query, body)).json).toEqual({
        code: 403,
        message: 'the token belongs to another run',
        data: null,
      });
    }
  });

  test.each([
    ['path', '{'],
    ['path', ''],
    ['path', '[]'],
    ['path', 'null'],
    ['path', {}],
    ['path', { runId: 7, visitUuid: randomUUID() }],
    ['path', { runId: 'r', visitUuid: 'no-uuid' }],
    ['path', { runId: 'r', visitUuid: null }],
    ['path', Buffer.from('{"runId":"\xff"}', 'latin1')],
    ['output', { runId: 'r' }],
    ['output', { runId: 'r', nodeId: '' }],
    ['output', { runId: 'r', nodeId: ['B'] }],
    ['output', { runId: 'r', nodeId: 'B', field: 7 }],
    ['output', { runId: 'r', nodeId: 'B', iterSeq: 0 }],
    ['output', { runId: 'r', nodeId: 'B', iterSeq: -1 }],
    ['output', { runId: 'r', nodeId: 'B', iterSeq: 1.5 }],
    ['output', { runId: 'r', nodeId: 'B', iterSeq: '1' }],
    ['meta', { runId: 'r' }],
    ['meta', { runId: 'r', nodeId: 'B', kind: 'thinking' }],
    ['meta', { runId: 'r', nodeId: 'B', kind: 1 }],
    ['meta', { runId: 'r', visitUuid: 'v2' }],
  ] as const)('%s with the body %j is 400, before the run is looked at', async (query, body) => {
    const answer = await ask(query, body);
    expect([answer.status, answer.json?.code, answer.json?.data]).toEqual([400, 400, null]);
    expect(answer.json?.message).not.toBe('');
  });

  test.each([
    [{ nodeId: 'B', kind: 'thinking' }, 'kind: must be one of THINKING, TOOL_CALLS, TODO, ALL'],
    [{ nodeId: 'B', kind: 1 }, 'kind: must be one of THINKING, TOOL_CALLS, TODO, ALL'],
    [{ visitUuid: 'v2' }, 'visitUuid: Invalid GUID'],
  ])('meta with %j says what is taken', async (body, message) => {
    expect((await ask('meta', { runId: run.runId, ...body })).json?.message).toBe(message);
  });

  test('texts have a longest length', async () => {
    for (const body of [{ nodeId: 'n'.repeat(201) }, { nodeId: 'B', field: 'x'.repeat(1_001) }]) {
      expect((await ask('output', { runId: run.runId, ...body })).status).toBe(400);
    }
  });

  test('no answer carries a token, a cookie or a redirect', async () => {
    const token = tokenOf(app, visits.c);
    const answers = await Promise.all([
      ask('meta', { runId: run.runId, nodeId: 'B' }, { 'X-Context-Token': token }),
      ask('output', { runId: run.runId, nodeId: token }, { 'X-Context-Token': 'wrong' }),
    ]);
    for (const { text, headers } of answers) {
      expect(text).not.toContain(token);
      expect(Object.keys(headers)).not.toEqual(expect.arrayContaining(['set-cookie']));
      expect(Object.keys(headers)).not.toEqual(expect.arrayContaining(['location']));
      expect(headers['cache-control']).toBe('no-store');
      expect(headers['content-type']).toBe('application/json; charset=utf-8');
    }
  });
});

describe('where the endpoints are', () => {
  const forwarding = [
    'Forwarded',
    'X-Forwarded-For',
    'X-Forwarded-Proto',
    'x-forwarded-anything',
    'X-Real-IP',
  ];

  test.each(forwarding)(
    'behind a proxy that adds %s they are an unknown route, in every byte',
    async (header) => {
      for (const parts of [
        { method: 'POST', body: {} },
        { method: 'POST', body: '{' },
        { method: 'GET' },
        { method: 'PUT', body: {} },
      ]) {
        const headers = {
          [header]: '10.0.0.1',
          'X-Context-Token': tokenOf(app, visits.c),
          'X-Request-Id': 'same',
        };
        const [here, nowhere] = await Promise.all([
          send(`${app.url}/internal/context/path`, { ...parts, headers }),
          send(`${app.url}/internal/nothing`, { ...parts, headers }),
        ]);
        expect(here.status).toBe(404);
        expect(here.text).toBe(nowhere.text);
        expect({ ...here.headers, date: null }).toEqual({ ...nowhere.headers, date: null });
      }
    },
  );

  test('a proxy’s header is seen behind however many of the caller’s', async () => {
    // Node drops those beyond the thousandth; a request with as many is an unknown route, whatever they are.
    const body = { runId: run.runId, visitUuid: visits.c.visitUuid };
    const withMany = (count: number, more: object): ReturnType<typeof ask> => {
      const many = Array.from({ length: count }, (_, at): [string, string] => [`a${at}`, '']);
      return ask('path', body, {
        Host: new URL(app.url).host,
        'Content-Length': JSON.stringify(body).length,
        ...Object.fromEntries(many),
        ...more,
      });
    };
    const proxied = await withMany(1_100, { 'X-Forwarded-For': '10.0.0.1' });
    expect([proxied.status, proxied.json?.code]).toEqual([404, 'NOT_FOUND']);
    expect((await withMany(900, { 'X-Forwarded-For': '10.0.0.1' })).status).toBe(404);
    expect((await withMany(900, {})).status).toBe(200);
  });

  test('any loopback address may ask', async () => {
    const answer = await send(`${app.url}/internal/context/path`, { body: {}, localAddress: '127.0.0.9' });
    expect(answer.status).toBe(401);
  });

  test('with a listener of their own they are there, and nothing else is', async () => {
    await withApp({ listen: '127.0.0.1:0' }, async (other) => {
      for (const event of run.events) other.bus.publish(event);
      const issued = other.tokens.issue({
        runId: run.runId,
        ...visits.c,
        notAfter: new Date(Date.now() + 60_000),
      });
      const headers = { 'X-Context-Token': issued?.token };
      const body = { runId: run.runId, visitUuid: visits.c.visitUuid };
      expect(issued?.base_url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
      expect(issued?.base_url).not.toBe(other.url);
      const own = await send(`${issued?.base_url}/internal/context/path`, { headers, body });
      expect(own.status).toBe(200);
      const main = await send(`${other.url}/internal/context/path`, { headers, body });
      const nowhere = await send(`${other.url}/internal/nothing`, { headers, body });
      expect([main.status, main.text]).toEqual([404, nowhere.text]);
      expect((await send(`${issued?.base_url}/anything`, { method: 'GET' })).status).toBe(404);
      const proxied = { ...headers, Forwarded: 'for=10.0.0.1' };
      expect(
        (await send(`${issued?.base_url}/internal/context/path`, { headers: proxied, body })).status,
      ).toBe(404);
    });
  });

  test('a port that is taken stops the start with a message that names the key', async () => {
    const { host } = new URL(app.url);
    await expect(withApp({ listen: host }, async () => undefined)).rejects.toThrow(
      /hermes\.context-query\.listen/,
    );
  });
});

test('switched off, all three answer 503 before anything is looked at, and no token is made', async () => {
  await withApp({ enabled: false }, async (other) => {
    expect(
      other.tokens.issue({ runId: run.runId, ...visits.c, notAfter: new Date(Date.now() + 60_000) }),
    ).toBeNull();
    for (const event of run.events) other.bus.publish(event);
    expect(other.index.runCount).toBe(0);
    for (const query of ['path', 'output', 'meta']) {
      const answer = await send(`${other.url}/internal/context/${query}`, { body: '{' });
      expect([answer.status, answer.json]).toEqual([
        503,
        { code: 503, message: 'context queries are disabled', data: null },
      ]);
    }
    const proxied = { headers: { 'X-Real-IP': '10.0.0.1' }, body: {} };
    expect((await send(`${other.url}/internal/context/path`, proxied)).status).toBe(404);
  });
});

test('an error of ours is a 500 that tells nothing but where to look', async () => {
  const elsewhere = new RecordedRun();
  const token = app.tokens.issue({
    runId: elsewhere.runId,
    ...visits.c,
    notAfter: new Date(Date.now() + 60_000),
  });
  const answer = await ask(
    'output',
    { runId: elsewhere.runId, nodeId: 'B' },
    { 'X-Context-Token': token?.token, 'X-Request-Id': 'look-here' },
  );
  expect(answer.json).toMatchObject({ code: 500, data: null });
  expect(answer.json?.message).toMatch(/^internal error.*look-here$/);
});
