import { startInProcessServer, type InProcessServer } from '../../support/in-process-server.js';

interface Answer {
  status: number;
  code: string;
  message: string;
  data: never;
  details?: never;
}

const KEYS = [
  { name: 'all', key: 'key-all', roles: ['admin'] },
  { name: 'reads', key: 'key-viewer', roles: ['viewer'] },
  { name: 'writes', key: 'key-editor', roles: ['editor'] },
  { name: 'audits', key: 'key-auditor', roles: ['auditor'] },
  { name: 'publishes', key: 'key-publisher', roles: ['publisher'] },
];

let server: InProcessServer;
beforeAll(async () => {
  server = await startInProcessServer({ ADMIN_API_KEYS: JSON.stringify(KEYS), HTTP_BODY_LIMIT: '100kb' });
});
afterAll(() => server.close());

async function call(
  method: string,
  path: string,
  {
    body,
    key = 'key-all',
    headers = {},
  }: { body?: unknown; key?: string | null; headers?: Record<string, string> } = {},
): Promise<Answer> {
  const isForm = body instanceof FormData;
  const answer = await fetch(`${server.url}/admin/v1${path}`, {
    method,
    headers: {
      ...(key === null ? {} : { 'x-admin-key': key }),
      ...(body === undefined || isForm ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    body: body === undefined || isForm ? body : typeof body === 'string' ? body : JSON.stringify(body),
  });
  return { status: answer.status, ...((await answer.json()) as Omit<Answer, 'status'>) };
}

const graphData = (text = 'x') => ({
  nodes: [
    { id: 'in', type: 'userInput', data: { fields: [{ name: 'topic', type: 'string', required: true }] } },
    { id: 'out', type: 'output', data: { fields: [{ name: 'text', value: text }] } },
  ],
  edges: [{ id: 'e1', source: 'in', target: 'out' }],
});
const workflow = (name: string, more: object = {}) => ({
  name,
  displayName: '报告流水线',
  description: '读文档',
  mode: 'DAG',
  graphData: graphData(),
  settings: {},
  ...more,
});

describe('/admin/v1/workflows', () => {
  it('creates, shows, updates, lists versions and deletes', async () => {
    const created = await call('POST', '/workflows', { body: workflow('life') });
    expect(created).toMatchObject({
      status: 201,
      code: 'OK',
      data: {
        name: 'life',
        displayName: '报告流水线',
        description: '读文档',
        version: 1,
        mode: 'DAG',
        settings: {},
      },
    });
    const { workflowId } = created.data as { workflowId: number };
    expect(typeof workflowId).toBe('number');
    for (const nameOrId of ['life', workflowId]) {
      expect(await call('GET', `/workflows/${nameOrId}`)).toMatchObject({
        status: 200,
        data: { graphData: graphData() },
      });
    }
    const updated = await call('PUT', '/workflows/life', {
      body: workflow('life', { graphData: graphData('y') }),
    });
    expect(updated).toMatchObject({ status: 200, data: { version: 2, graphData: graphData('y') } });
    expect((await call('GET', '/workflows/life/versions')).data).toMatchObject({
      items: [{ version: 2, mode: 'DAG' }, { version: 1 }],
      nextCursor: null,
    });
    expect(await call('GET', '/workflows/life/versions/1')).toMatchObject({
      status: 200,
      data: { graphData: graphData() },
    });
    expect(await call('GET', '/workflows/life/versions/3')).toMatchObject({
      status: 404,
      code: 'WORKFLOW_NOT_FOUND',
    });
    expect(
      await call('PUT', '/workflows/life', { body: workflow('life', { expectedVersion: 1 }) }),
    ).toMatchObject({
      status: 409,
      code: 'CONFLICT',
    });
    expect(await call('DELETE', '/workflows/life')).toMatchObject({ status: 200, data: { name: 'life' } });
    for (const [method, path] of [
      ['GET', ''],
      ['DELETE', ''],
      ['GET', '/versions'],
      ['GET', '/export'],
    ]) {
      expect(await call(method!, `/workflows/life${path}`)).toMatchObject({
        status: 404,
        code: 'WORKFLOW_NOT_FOUND',
        data: null,
      });
    }
  });

  it('sends back what a GET answered', async () => {
    await call('POST', '/workflows', { body: workflow('round-trip') });
    const { data } = await call('GET', '/workflows/round-trip');
    expect(await call('PUT', '/workflows/round-trip', { body: data })).toMatchObject({
      status: 200,
      data: { version: 2 },
    });
  });

  it('keeps the order of all keys of a definition, and refuses numbers that would be changed', async () => {
    const value = '{"2024":{"z":1,"10":2,"9":3},"2023":"{{ in.topic }}"}';
    const text = JSON.stringify(workflow('key-order', { graphData: graphData('VALUE') }));
    expect(await call('POST', '/workflows', { body: text.replace('"VALUE"', value) })).toMatchObject({
      status: 201,
    });
    for (const path of ['/workflows/key-order', '/workflows/key-order/export']) {
      const answer = await fetch(`${server.url}/admin/v1${path}`, { headers: { 'x-admin-key': 'key-all' } });
      expect(await answer.text()).toContain(`"value":${value}`);
    }
    for (const number of ['9007199254740993.0', '9007199254740993e0', '1e400']) {
      const refused = await call('POST', '/workflows', { body: text.replace('"VALUE"', `[${number}]`) });
      expect([refused.status, refused.code]).toEqual([400, 'VALIDATION_FAILED']);
      expect(refused.message).toMatch(/^graphData\.nodes\.1\.data\.fields\.0\.value\.0: the /);
    }
  });

  it('refuses a taken name, bad fields and a bad graph, each in its way', async () => {
    await call('POST', '/workflows', { body: workflow('taken') });
    expect(await call('POST', '/workflows', { body: workflow('taken') })).toMatchObject({
      status: 409,
      code: 'WORKFLOW_EXISTS',
      data: null,
    });
    for (const name of ['Bar', 'a--b', '-a', 'a-', 'a_b', '报告', '', 'a'.repeat(65), 'a/b', 5, null]) {
      const refused = await call('POST', '/workflows', { body: workflow('x', { name }) });
      expect(refused).toMatchObject({ status: 400, code: 'VALIDATION_FAILED', data: null });
      expect(refused.details).toEqual([expect.objectContaining({ field: 'name' })]);
    }
    expect(await call('POST', '/workflows', { body: { name: 'x', mode: 'CIRCULAR' } })).toMatchObject({
      status: 400,
      details: [{ field: 'mode' }, { field: 'graphData', message: 'is required' }],
    });
    for (const body of [undefined, '[]', 'null', '"x"', '{"name":']) {
      expect(await call('POST', '/workflows', { body })).toMatchObject({
        status: 400,
        code: 'VALIDATION_FAILED',
      });
    }
    const bad = {
      nodes: [...graphData().nodes, { id: 'island', type: 'wizard', data: {} }],
      edges: graphData().edges,
    };
    for (const body of [workflow('bad', { graphData: bad }), workflow('bad', { graphData: null })]) {
      const refused = await call('POST', '/workflows', { body });
      expect(refused).toMatchObject({ status: 422, code: 'GRAPH_INVALID', data: null });
      expect((refused.details as unknown as unknown[]).length).toBeGreaterThan(0);
    }
    expect(await call('GET', '/workflows/bad')).toMatchObject({ status: 404 });
  });

  it('validates without saving', async () => {
    const valid = { mode: 'DAG', graphData: graphData(), settings: {} };
    expect(await call('POST', '/workflows/validate', { body: valid })).toMatchObject({
      status: 200,
      data: { valid: true, problems: [] },
    });
    const bad = { ...valid, graphData: graphData('{{ ghost.text }}'), settings: { maxVisits: 1 } };
    const { status, data } = await call('POST', '/workflows/validate', { body: bad, key: 'key-viewer' });
    expect(status).toBe(200);
    expect(data).toEqual({
      valid: false,
      problems: [
        {
          nodeId: null,
          edgeId: null,
          field: 'settings.maxVisits',
          code: 'INVALID_SETTINGS',
          message: expect.any(String) as string,
        },
        {
          nodeId: 'out',
          edgeId: null,
          field: 'fields.0.value',
          code: 'UNKNOWN_REFERENCE',
          message: expect.stringContaining('ghost') as string,
        },
      ],
    });
    expect(await call('POST', '/workflows/validate', { body: { ...valid, graphData: 7 } })).toMatchObject({
      data: { valid: false },
    });
    expect(await call('POST', '/workflows/validate', { body: { ...valid, mode: 'X' } })).toMatchObject({
      status: 400,
    });
  });

  it('pages', async () => {
    for (const name of ['p1', 'p2', 'p3']) await call('POST', '/workflows', { body: workflow(name) });
    const first = (await call('GET', '/workflows?limit=2')).data as {
      items: { name: string }[];
      nextCursor: string;
    };
    expect(first.items.map(({ name }) => name)).toEqual(['p3', 'p2']);
    expect(first.items[0]).not.toHaveProperty('graphData');
    const second = (await call('GET', `/workflows?limit=2&cursor=${first.nextCursor}`)).data as typeof first;
    expect(second.items[0]?.name).toBe('p1');
    for (const query of ['limit=0', 'limit=101', 'limit=x', 'cursor=x', 'limit=', 'cursor=bnVsbA']) {
      expect(await call('GET', `/workflows?${query}`)).toMatchObject({
        status: 400,
        code: 'VALIDATION_FAILED',
      });
    }
  });

  it('exports and imports, as JSON, as a file, as the export’s own answer', async () => {
    await call('POST', '/workflows', { body: workflow('original') });
    const exported = await call('GET', '/workflows/original/export');
    expect(exported.data).toEqual({
      format: 'agent-management/workflow',
      formatVersion: 1,
      ...workflow('original'),
    });
    expect(await call('POST', '/workflows/import', { body: exported.data })).toMatchObject({
      status: 409,
      code: 'WORKFLOW_EXISTS',
    });
    const copy = await call('POST', '/workflows/import?name=copy-1', { body: exported.data });
    expect(copy).toMatchObject({
      status: 201,
      data: { name: 'copy-1', version: 1, displayName: '报告流水线' },
    });
    const form = new FormData();
    form.set(
      'file',
      new Blob([`\ufeff${JSON.stringify({ code: 'OK', data: exported.data })}`]),
      '流水线.json',
    );
    expect(await call('POST', '/workflows/import?overwrite=true', { body: form })).toMatchObject({
      status: 201,
      data: { name: 'original', version: 2 },
    });
  });

  it('refuses uploads that are none', async () => {
    const upload = (content: string | Uint8Array<ArrayBuffer>, field = 'file') => {
      const form = new FormData();
      form.set(field, new Blob([content]), 'a.json');
      return call('POST', '/workflows/import', { body: form });
    };
    for (const content of [
      '{',
      '[]',
      '{"name":"x"}',
      new Uint8Array([0x7b, 0xff]),
      `{"a":${'['.repeat(200)}`,
    ]) {
      expect(await upload(content)).toMatchObject({ status: 400, code: 'VALIDATION_FAILED' });
    }
    expect(await upload('{}', 'other')).toMatchObject({ status: 400 });
    expect(await upload(`{"x":"${'y'.repeat(110_000)}"}`)).toMatchObject({
      status: 413,
      code: 'PAYLOAD_TOO_LARGE',
    });
    expect(await call('POST', '/workflows/import')).toMatchObject({ status: 400 });
    const cut = { 'content-type': 'multipart/form-data; boundary=b' };
    const body = '--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n{';
    expect(await call('POST', '/workflows/import', { body, headers: cut })).toMatchObject({ status: 400 });
  });
});

describe('admin keys and roles', () => {
  it('wants an admin key; an API key is none', async () => {
    for (const key of [null, 'wrong', 'demo-key', 'KEY-ALL', 'x'.repeat(600)]) {
      expect(await call('GET', '/workflows', { key })).toMatchObject({
        status: 401,
        code: 'UNAUTHORIZED',
        data: null,
      });
    }
    const answer = await fetch(`${server.url}/admin/v1/workflows?x-admin-key=key-all`, {
      headers: { 'x-api-key': 'demo-key' },
    });
    expect(answer.status).toBe(401);
  });

  it.each([
    ['GET', '/workflows', ['key-all', 'key-viewer', 'key-auditor']],
    ['GET', '/runs', ['key-all', 'key-viewer', 'key-auditor']],
    ['GET', '/api-keys', ['key-all', 'key-viewer', 'key-auditor']],
    ['POST', '/workflows', ['key-all', 'key-editor']],
    ['PUT', '/workflows/nobody', ['key-all', 'key-editor']],
    ['DELETE', '/workflows/nobody', ['key-all', 'key-editor']],
    ['POST', '/workflows/import', ['key-all', 'key-editor']],
    ['POST', '/api-keys', ['key-all']],
    ['DELETE', '/api-keys/x', ['key-all']],
  ])('%s %s is for %j', async (method, path, allowed) => {
    for (const { key } of KEYS) {
      const { status, code } = await call(method, path, { key });
      if (allowed.includes(key)) expect([200, 400, 404]).toContain(status);
      else expect([status, code]).toEqual([403, 'FORBIDDEN']);
    }
  });
});

describe('/metrics', () => {
  it('counts refused keys', async () => {
    const counted = async (kind: string) => {
      const page = await (await fetch(`${server.url}/metrics`)).text();
      return Number(new RegExp(`refused_keys_total\\{kind="${kind}"\\} (\\d+)`).exec(page)?.[1]);
    };
    const before = [await counted('admin'), await counted('api')];
    await call('GET', '/workflows', { key: 'wrong' });
    await fetch(`${server.url}/api/v1/workflows`, { headers: { 'x-api-key': 'wrong' } });
    expect([await counted('admin'), await counted('api')]).toEqual(before.map((count) => count + 1));
  });
});

describe('/admin/v1/api-keys', () => {
  const external = (key: string, path = '/workflows') =>
    fetch(`${server.url}/api/v1${path}`, { headers: { 'x-api-key': key } });

  it('makes a key that is shown once, works within its scope, and ends', async () => {
    await call('POST', '/workflows', { body: workflow('in-scope') });
    await call('POST', '/workflows', { body: workflow('out-of-scope') });
    const made = await call('POST', '/api-keys', {
      body: { name: 'ci', workflowNames: ['in-scope'], requestsPerMinute: 100 },
    });
    expect(made).toMatchObject({ status: 201, data: { name: 'ci', createdBy: 'all' } });
    const { id, key } = made.data as { id: string; key: string };
    const listed = (await (await external(key)).json()) as { data: { name: string }[] };
    expect(listed.data.map(({ name }) => name)).toEqual(['in-scope']);
    expect((await external(key, '/workflows/out-of-scope')).status).toBe(404);
    const list = await call('GET', '/api-keys');
    expect((list.data as { items: { name: string }[] }).items.map(({ name }) => name)).toEqual(['ci']);
    expect(JSON.stringify(list)).not.toContain(key);
    expect(JSON.stringify(list)).not.toMatch(/hash/i);
    expect(await call('DELETE', `/api-keys/${id}`)).toMatchObject({ status: 200, data: { id } });
    expect((await external(key)).status).toBe(401);
    expect(await call('DELETE', `/api-keys/${id}`)).toMatchObject({ status: 404, code: 'NOT_FOUND' });
  });

  it('refuses a taken name and bad fields', async () => {
    expect(await call('POST', '/api-keys', { body: { name: 'demo' } })).toMatchObject({
      status: 409,
      code: 'CONFLICT',
    });
    for (const body of [
      {},
      { name: '' },
      { name: 'a\u0000' },
      { name: 'a', key: 'ü'.repeat(9) },
      { name: 'a', unknown: 1 },
      { name: 'a', expiresAt: 'soon' },
      { name: 'a', requestsPerMinute: 0 },
    ]) {
      expect(await call('POST', '/api-keys', { body })).toMatchObject({
        status: 400,
        code: 'VALIDATION_FAILED',
      });
    }
  });
});

describe('/admin/v1/runs', () => {
  it('lists and shows the runs of all workflows', async () => {
    await call('POST', '/workflows', { body: workflow('runs-a') });
    await call('POST', '/workflows', { body: workflow('runs-b') });
    const create = async (name: string) => {
      const answer = await fetch(`${server.url}/api/v1/workflows/${name}/runs`, {
        method: 'POST',
        headers: { 'x-api-key': 'demo-key', 'content-type': 'application/json' },
        body: JSON.stringify({ variables: { topic: '量子', extra: 1 } }),
      });
      return ((await answer.json()) as { data: { runId: string } }).data.runId;
    };
    const [a1, b1, a2] = [await create('runs-a'), await create('runs-b'), await create('runs-a')];
    const page = async (query: string) => {
      const { data } = await call('GET', `/runs?${query}`);
      return data as {
        items: { runId: string; workflowName: string; apiKeyName: string }[];
        nextCursor: string | null;
      };
    };
    const first = await page('limit=2');
    expect(first.items.map(({ runId, workflowName }) => [runId, workflowName])).toEqual([
      [a2, 'runs-a'],
      [b1, 'runs-b'],
    ]);
    expect(first.items[0]?.apiKeyName).toBe('demo');
    expect((await page(`limit=2&cursor=${first.nextCursor}`)).items.map(({ runId }) => runId)).toEqual([a1]);
    expect((await page('workflow=runs-b&status=CREATED')).items.map(({ runId }) => runId)).toEqual([b1]);
    expect((await page('status=FAILED')).items).toEqual([]);
    expect(await call('GET', '/runs?workflow=nobody')).toMatchObject({
      status: 404,
      code: 'WORKFLOW_NOT_FOUND',
    });
    expect(await call('GET', '/runs?status=ODD')).toMatchObject({ status: 400 });
    expect(await call('GET', `/runs/${a1}`)).toMatchObject({
      status: 200,
      data: {
        runId: a1,
        workflowName: 'runs-a',
        status: 'CREATED',
        variables: { topic: '量子', extra: 1 },
        visits: [],
      },
    });
    for (const runId of ['nope', '%00', 'A'.repeat(100)]) {
      expect(await call('GET', `/runs/${runId}`)).toMatchObject({ status: 404, code: 'RUN_NOT_FOUND' });
    }
  });
});
