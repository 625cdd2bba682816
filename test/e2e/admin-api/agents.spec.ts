import pg from 'pg';
import { AdminClient, type AdminAnswer } from '../../support/admin-client.js';
import { startInProcessServer, type InProcessServer } from '../../support/in-process-server.js';

const KEYS = [
  { name: 'all', key: 'key-all', roles: ['admin'] },
  { name: 'reads', key: 'key-viewer', roles: ['viewer'] },
  { name: 'writes', key: 'key-editor', roles: ['editor'] },
  { name: 'publishes', key: 'key-publisher', roles: ['publisher'] },
  { name: 'audits', key: 'key-auditor', roles: ['auditor'] },
];
const CREDENTIALS = {
  'new-api-open': { provider: 'new-api', env: 'TEST_OPEN_KEY', baseUrl: 'http://127.0.0.1:9/v1' },
  'new-api-scoped': {
    provider: 'new-api',
    env: 'TEST_OPEN_KEY',
    baseUrl: 'http://127.0.0.1:9/v1',
    scope: ['somebody-else'],
  },
  'new-api-unset': { provider: 'new-api', env: 'TEST_UNSET_KEY', baseUrl: 'http://127.0.0.1:9/v1' },
  'dify-open': {
    provider: 'dify',
    env: 'TEST_OPEN_KEY',
    baseUrl: 'http://127.0.0.1:9/v1',
    consoleBaseUrl: 'https://dify.example/console/',
    environment: 'test',
  },
  'dify-no-console': { provider: 'dify', env: 'TEST_OPEN_KEY', baseUrl: 'http://127.0.0.1:9/v1' },
};

let server: InProcessServer;
let admin: AdminClient;
let serial = 0;

beforeAll(async () => {
  server = await startInProcessServer({
    ADMIN_API_KEYS: JSON.stringify(KEYS),
    CREDENTIALS: JSON.stringify(CREDENTIALS),
    TEST_OPEN_KEY: 'sk-canary-77aa-never-shown',
  });
  admin = new AdminClient(server.url, 'key-all');
});
afterAll(() => server.close());

const newApi = (credentialRef = 'new-api-open') => ({
  runtimeProvider: 'new-api',
  newApi: { model: 'm', credentialRef },
});

async function newAgent(): Promise<string> {
  serial += 1;
  const agentKey = `agent-${serial}`;
  expect(await admin.post('/agents', { agentKey, displayName: '写手', description: '续写' })).toMatchObject({
    status: 201,
    data: { agentKey, displayName: '写手', description: '续写', currentVersion: null },
  });
  return agentKey;
}

async function newVersion(agentKey: string, config: unknown = newApi()): Promise<number> {
  const made = await admin.post<{ version: number }>(`/agents/${agentKey}/versions`, { config });
  expect(made).toMatchObject({ status: 201, data: { agentKey, status: 'DRAFT' } });
  return made.data.version;
}

const publish = (
  agentKey: string,
  version: number,
  body: unknown = { reason: 'reviewed' },
): Promise<AdminAnswer> => admin.post(`/agents/${agentKey}/versions/${version}/publish`, body);

const fields = ({ details = [] }: AdminAnswer): string[] => details.map(({ field }) => field).sort();

describe('agents', () => {
  it('are created once, listed by key and shown', async () => {
    const agentKey = await newAgent();
    expect(await admin.post('/agents', { agentKey })).toMatchObject({ status: 409, code: 'AGENT_EXISTS' });
    expect(await admin.get(`/agents/${agentKey}`)).toMatchObject({
      status: 200,
      data: { agentKey, provider: null, credentialRef: null, lastRun: null },
    });
    expect(await admin.get('/agents/none')).toMatchObject({ status: 404, code: 'AGENT_NOT_FOUND' });
  });

  it('refuse malformed bodies by field', async () => {
    const refused = await admin.post('/agents', { agentKey: 'Not A Key', displayName: 5, extra: 1 });
    expect(refused).toMatchObject({ status: 400, code: 'VALIDATION_FAILED', data: null });
    expect(fields(refused)).toEqual(['agentKey', 'displayName', 'extra']);
  });

  it('list the provider, its reference and the credential, page by page', async () => {
    const agentKey = await newAgent();
    await newVersion(agentKey, {
      runtimeProvider: 'dify',
      dify: { appType: 'workflow', workflowId: 'w-1', credentialRef: 'dify-open' },
    });
    const seen: Record<string, unknown>[] = [];
    let cursor: string | null = null;
    do {
      const page: AdminAnswer<{ items: Record<string, unknown>[]; nextCursor: string | null }> =
        await admin.get(`/agents?limit=1${cursor === null ? '' : `&cursor=${cursor}`}`);
      seen.push(...page.data.items);
      cursor = page.data.nextCursor;
    } while (cursor !== null);
    const keys = seen.map((agent) => agent.agentKey);
    expect(keys).toEqual([...new Set(keys)].sort());
    expect(seen.find((agent) => agent.agentKey === agentKey)).toMatchObject({
      provider: 'dify',
      reference: { appType: 'workflow', appId: null, workflowId: 'w-1' },
      credentialRef: 'dify-open',
    });
  });

  it('are archived, and then neither published nor called', async () => {
    const agentKey = await newAgent();
    const version = await newVersion(agentKey);
    await publish(agentKey, version);
    expect(await admin.call('DELETE', `/agents/${agentKey}`)).toMatchObject({ status: 200 });
    expect(await admin.call('DELETE', `/agents/${agentKey}`)).toMatchObject({ status: 409 });
    expect(await publish(agentKey, version)).toMatchObject({ status: 409, code: 'CONFLICT' });
    const invocation = { commandId: `archived-${agentKey}`, scenario: 's', instruction: 'x' };
    expect(await admin.post(`/agents/${agentKey}/invocations`, invocation)).toMatchObject({ status: 409 });
    const { data } = await admin.get<{ items: { agentKey: string }[] }>('/agents?limit=100');
    expect(data.items.map((agent) => agent.agentKey)).not.toContain(agentKey);
  });
});

describe('versions', () => {
  it.each([
    ['no provider', { newApi: { model: 'm', credentialRef: 'x' } }, ['config.runtimeProvider']],
    ['an unknown provider', { runtimeProvider: 'magic' }, ['config.runtimeProvider']],
    ['no config', undefined, ['config']],
    ['a config that is a text', 'x', ['config']],
    ['no reference', { runtimeProvider: 'dify' }, ['config.dify']],
    [
      'an incomplete dify app',
      { runtimeProvider: 'dify', dify: { appType: 'agent', appId: null, credentialRef: 'c' } },
      ['config.dify.appId'],
    ],
    [
      'an incomplete dify workflow',
      { runtimeProvider: 'dify', dify: { appType: 'workflow', appId: 'a', credentialRef: 'c' } },
      ['config.dify.workflowId'],
    ],
    [
      'a dify reference without credential',
      { runtimeProvider: 'dify', dify: { appType: 'agent', appId: 'a' } },
      ['config.dify.credentialRef'],
    ],
    [
      'an empty credential',
      { runtimeProvider: 'dify', dify: { appType: 'agent', appId: 'a', credentialRef: '' } },
      ['config.dify.credentialRef'],
    ],
    [
      'agentscope without an agent',
      { runtimeProvider: 'agentscope', agentscope: { credentialRef: 'c' } },
      ['config.agentscope.agentId'],
    ],
    [
      'agentscope 2 with a graph only',
      { runtimeProvider: 'agentscope', agentscope: { graphId: 'g', protocolVersion: 2, credentialRef: 'c' } },
      ['config.agentscope.agentId'],
    ],
    [
      'another provider’s reference',
      { ...newApi(), dify: { appType: 'agent', appId: 'a', credentialRef: 'c' } },
      ['config.dify'],
    ],
    [
      'a consoleUrl in the reference',
      {
        runtimeProvider: 'dify',
        dify: { appType: 'agent', appId: 'a', credentialRef: 'c', consoleUrl: 'https://evil.example' },
      },
      ['config.dify.consoleUrl'],
    ],
    [
      'a consoleUrl in the config',
      { ...newApi(), consoleUrl: 'https://evil.example' },
      ['config.consoleUrl'],
    ],
    ['a literal key', { ...newApi(), apiKey: 'sk-x' }, ['config.apiKey']],
    [
      'a schema that is none',
      { ...newApi(), outputContract: { type: 'json', schema: { type: 'nonsense' } } },
      ['config.outputContract.schema.type'],
    ],
    [
      'a schema that refers elsewhere',
      { ...newApi(), outputContract: { type: 'json', schema: { $ref: 'https://evil.example/s' } } },
      ['config.outputContract.schema.$ref'],
    ],
    [
      'sections without names',
      { ...newApi(), outputContract: { type: 'sections' } },
      ['config.outputContract.sections'],
    ],
    [
      'several problems, each by its field',
      {
        runtimeProvider: 'dify',
        dify: { appType: 'agent' },
        budget: { tokens: 0 },
        envelope: { allow: ['all'] },
      },
      ['config.budget.tokens', 'config.dify.appId', 'config.dify.credentialRef', 'config.envelope.allow.0'],
    ],
  ])('refuse %s', async (_name, config, expected) => {
    const agentKey = await newAgent();
    const refused = await admin.post(`/agents/${agentKey}/versions`, { config });
    expect(refused).toMatchObject({ status: 400, code: 'VALIDATION_FAILED', data: null });
    expect([...new Set(fields(refused))]).toEqual(expected);
  });

  it('refuse a consoleUrl beside the config and in a publish', async () => {
    const agentKey = await newAgent();
    const beside = await admin.post(`/agents/${agentKey}/versions`, { config: newApi(), consoleUrl: 'x' });
    expect(fields(beside)).toEqual(['consoleUrl']);
    const version = await newVersion(agentKey);
    const inPublish = await publish(agentKey, version, { reason: 'r', consoleUrl: 'x' });
    expect(inPublish.status).toBe(400);
    expect(fields(inPublish)).toEqual(['consoleUrl']);
  });

  it.each([
    ['an unconfigured credential', newApi('nowhere'), 'config.newApi.credentialRef', 'nowhere'],
    ['a credential out of scope', newApi('new-api-scoped'), 'config.newApi.credentialRef', 'scope'],
    ['a credential of another provider', newApi('dify-open'), 'config.newApi.credentialRef', 'dify'],
    ['a credential without value', newApi('new-api-unset'), 'config.newApi.credentialRef', 'TEST_UNSET_KEY'],
    [
      'a runtime that is not configured',
      {
        runtimeProvider: 'isolated-writer',
        writer: { name: 'w', model: 'm', credentialRef: 'new-api-open' },
      },
      'config.runtimeProvider',
      'isolated-writer',
    ],
    [
      'an envelope that allows no instruction',
      { ...newApi(), envelope: { allow: ['knowledge'] } },
      'config.envelope.allow',
      'instruction',
    ],
    [
      'a judge that is not there',
      { ...newApi(), judge: { agentKey: 'no-judge', onFailure: 'block' } },
      'config.judge.agentKey',
      'no-judge',
    ],
  ])('are not published with %s', async (_name, config, field, mentions) => {
    const agentKey = await newAgent();
    const refused = await publish(agentKey, await newVersion(agentKey, config));
    expect(refused).toMatchObject({ status: 400, code: 'VALIDATION_FAILED' });
    expect(refused.details).toEqual([{ field, message: expect.stringContaining(mentions) as string }]);
    expect(await admin.get(`/agents/${agentKey}`)).toMatchObject({ data: { currentVersion: null } });
  });

  it('refuse the value of a configured secret wherever it is written', async () => {
    const agentKey = await newAgent();
    const secret = 'sk-canary-77aa-never-shown';
    const inConfig = await admin.post(`/agents/${agentKey}/versions`, {
      config: {
        ...newApi(),
        instructions: `use ${secret}`,
        outputContract: { type: 'json', schema: { title: secret } },
      },
    });
    expect(fields(inConfig)).toEqual(['config.instructions', 'config.outputContract.schema.title']);
    const inReason = await publish(agentKey, await newVersion(agentKey), { reason: secret });
    expect(fields(inReason)).toEqual(['reason']);
    const inName = await admin.post('/agents', { agentKey: 'leaky', description: secret });
    expect(fields(inName)).toEqual(['description']);
    expect(JSON.stringify([inConfig, inReason, inName])).not.toContain(secret);
  });

  it('are published with a reason, once, and become current', async () => {
    const agentKey = await newAgent();
    const version = await newVersion(agentKey);
    expect(fields(await publish(agentKey, version, {}))).toEqual(['reason']);
    expect(fields(await publish(agentKey, version, { reason: '  ' }))).toEqual(['reason']);
    expect(await publish(agentKey, version)).toMatchObject({
      status: 200,
      data: { agentKey, version, status: 'PUBLISHED', publishReason: 'reviewed', publishedBy: 'all' },
    });
    expect(await publish(agentKey, version)).toMatchObject({ status: 409, code: 'CONFLICT' });
    expect(await admin.get(`/agents/${agentKey}`)).toMatchObject({ data: { currentVersion: version } });
    expect(await publish(agentKey, 99)).toMatchObject({ status: 404 });
    expect(await admin.post(`/agents/${agentKey}/versions/x/publish`, { reason: 'r' })).toMatchObject({
      status: 400,
    });
  });

  it('are published by one of many at the same instant', async () => {
    const agentKey = await newAgent();
    const version = await newVersion(agentKey);
    const answers = await Promise.all(Array.from({ length: 6 }, () => publish(agentKey, version)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409, 409, 409]);
    const { data } = await admin.get<{ items: unknown[] }>(
      `/audit-logs?action=agent.published&subjectId=${agentKey}`,
    );
    expect(data.items).toHaveLength(1);
  });

  it('of different numbers leave one current when published at the same instant', async () => {
    const agentKey = await newAgent();
    const versions = [await newVersion(agentKey), await newVersion(agentKey), await newVersion(agentKey)];
    const answers = await Promise.all(versions.map((version) => publish(agentKey, version)));
    const won = answers.filter(({ status }) => status === 200).map(({ data }) => data.version);
    const lost = answers.filter(({ status }) => status === 409);
    expect(won.length + lost.length).toBe(3);
    expect(won.length).toBeGreaterThan(0);
    const { data } = await admin.get(`/agents/${agentKey}`);
    expect(won).toContain(data.currentVersion);
  });

  it('get different numbers when made at the same instant', async () => {
    const agentKey = await newAgent();
    const made = await Promise.all(Array.from({ length: 5 }, () => newVersion(agentKey)));
    expect(made.sort()).toEqual([1, 2, 3, 4, 5]);
  });

  it('are copied with overrides, which another provider’s reference does not survive', async () => {
    const agentKey = await newAgent();
    const version = await newVersion(agentKey, { ...newApi(), instructions: 'old', budget: { tokens: 5 } });
    const copied = await admin.post(`/agents/${agentKey}/versions/${version}/copy`, {
      config: { runtimeProvider: 'hermes', hermes: { model: 'demo' }, instructions: 'new', budget: null },
    });
    expect(copied).toMatchObject({
      status: 201,
      data: {
        version: 2,
        status: 'DRAFT',
        copiedFrom: version,
        config: { runtimeProvider: 'hermes', hermes: { model: 'demo' }, instructions: 'new' },
      },
    });
    expect(copied.data.config).not.toHaveProperty('newApi');
    expect(copied.data.config).not.toHaveProperty('budget');
    const unchanged = await admin.call('POST', `/agents/${agentKey}/versions/${version}/copy`);
    expect(unchanged).toMatchObject({ status: 201, data: { version: 3, config: { instructions: 'old' } } });
    const without = await admin.post(`/agents/${agentKey}/versions/${version}/copy`, {
      config: { runtimeProvider: null },
    });
    expect(fields(without)).toEqual(['config.runtimeProvider']);
  });

  it('are switched between, if published', async () => {
    const agentKey = await newAgent();
    await publish(agentKey, await newVersion(agentKey));
    await publish(agentKey, await newVersion(agentKey));
    const draft = await newVersion(agentKey);
    const switchTo = (version: number) => admin.post(`/agents/${agentKey}/current`, { version });
    expect(await switchTo(1)).toMatchObject({ status: 200, data: { currentVersion: 1 } });
    expect(await switchTo(draft)).toMatchObject({ status: 409 });
    expect(await switchTo(77)).toMatchObject({ status: 404 });
    expect(fields(await admin.post(`/agents/${agentKey}/current`, {}))).toEqual(['version']);
  });

  it('never change once they are published, whoever asks the database', async () => {
    const agentKey = await newAgent();
    const version = await newVersion(agentKey);
    await publish(agentKey, version);
    const draft = await newVersion(agentKey);
    const client = new pg.Client({ connectionString: server.databaseUrl });
    await client.connect();
    try {
      for (const statement of [
        `UPDATE agent_versions SET config = '{}' WHERE agent_key = '${agentKey}' AND version = ${version}`,
        `UPDATE agent_versions SET status = 'DRAFT' WHERE agent_key = '${agentKey}' AND version = ${version}`,
        `DELETE FROM agent_versions WHERE agent_key = '${agentKey}' AND version = ${version}`,
        `UPDATE agent_versions SET config = '{}' WHERE agent_key = '${agentKey}' AND version = ${draft}`,
        `TRUNCATE agent_versions`,
      ]) {
        await expect(client.query(statement)).rejects.toMatchObject({ code: '42501' });
      }
    } finally {
      await client.end();
    }
  });
});

describe('slots', () => {
  it('are bound to living agents and hold them', async () => {
    const first = await newAgent();
    const second = await newAgent();
    const bind = (agentKey: string) => admin.call('PUT', '/slots/continuation', { agentKey });
    expect(await bind(first)).toMatchObject({
      status: 200,
      data: { slotKey: 'continuation', agentKey: first },
    });
    expect(await admin.call('DELETE', `/agents/${first}`)).toMatchObject({ status: 409 });
    expect(await bind(second)).toMatchObject({ status: 200 });
    expect(await admin.call('DELETE', `/agents/${first}`)).toMatchObject({ status: 200 });
    expect(await bind(first)).toMatchObject({ status: 409 });
    expect(fields(await bind('nobody-here'))).toEqual(['agentKey']);
    expect(fields(await admin.call('PUT', '/slots/%00', { agentKey: second }))).toEqual(['slotKey']);
  });

  it('are bound by many at the same instant, each of whom replaces the one before', async () => {
    const agentKeys = await Promise.all(Array.from({ length: 6 }, () => newAgent()));
    const bound = await Promise.all(
      agentKeys.map((agentKey) => admin.call('PUT', '/slots/contested', { agentKey })),
    );
    expect(bound.map(({ status }) => status)).toEqual(agentKeys.map(() => 200));
    const { data } = await admin.get<{ items: { before: object | null; after: object }[] }>(
      '/audit-logs?subjectType=slot&subjectId=contested',
    );
    const [last, ...earlier] = data.items;
    expect(data.items.map(({ before }) => before)).toEqual([...earlier.map(({ after }) => after), null]);
    expect(await admin.get('/slots')).toMatchObject({
      data: {
        items: expect.arrayContaining([
          expect.objectContaining({ slotKey: 'contested', ...last?.after }),
        ]) as unknown,
      },
    });
  });
});

describe('console links', () => {
  const dify = (reference: object) => ({
    runtimeProvider: 'dify',
    dify: { credentialRef: 'dify-open', ...reference },
  });

  it.each([
    [{ appType: 'agent', appId: 'app-1' }, 'https://dify.example/console/app/app-1/configuration'],
    [{ appType: 'workflow', workflowId: 'w-1' }, 'https://dify.example/console/app/w-1/workflow'],
    [
      { appType: 'workflow', appId: 'app-2', workflowId: 'w-1' },
      'https://dify.example/console/app/app-2/workflow',
    ],
  ])('of %j are built from the allow-listed base, and audited', async (reference, url) => {
    const agentKey = await newAgent();
    const version = await newVersion(agentKey, dify(reference));
    const link = await admin.get(`/agents/${agentKey}/versions/${version}/console-link`);
    expect(link).toMatchObject({ status: 200, data: { url } });
    const { data } = await admin.get<{ items: unknown[] }>(
      `/audit-logs?action=agent.console-opened&subjectId=${agentKey}`,
    );
    expect(data.items).toMatchObject([{ actor: { name: 'all' }, after: { version, url } }]);
  });

  it('are refused without a base, and where there is no console', async () => {
    const agentKey = await newAgent();
    const bare = await newVersion(
      agentKey,
      dify({ appType: 'agent', appId: 'a', credentialRef: 'dify-no-console' }),
    );
    const refused = await admin.get(`/agents/${agentKey}/versions/${bare}/console-link`);
    expect(refused).toMatchObject({
      status: 409,
      message: expect.stringContaining('consoleBaseUrl') as string,
    });
    const other = await newVersion(agentKey);
    expect(await admin.get(`/agents/${agentKey}/versions/${other}/console-link`)).toMatchObject({
      status: 409,
    });
  });
});

describe('roles', () => {
  const calls: [string, string, unknown, string[]][] = [
    ['GET', '/agents', undefined, ['viewer', 'auditor']],
    ['GET', '/agents/none', undefined, ['viewer', 'auditor']],
    ['GET', '/credentials', undefined, ['viewer', 'auditor']],
    ['GET', '/slots', undefined, ['viewer', 'auditor']],
    ['GET', '/audit-logs', undefined, ['auditor']],
    ['GET', '/audit-logs/verify', undefined, ['auditor']],
    ['GET', '/runtime-calls', undefined, ['auditor']],
    ['GET', '/usage', undefined, ['auditor']],
    ['POST', '/agents', {}, ['editor']],
    ['POST', '/agents/none/versions', {}, ['editor']],
    ['POST', '/agents/none/invocations', {}, ['editor']],
    ['POST', '/agents/none/versions/1/copy', {}, ['editor']],
    ['POST', '/agents/none/versions/1/publish', {}, ['publisher']],
    ['POST', '/agents/none/current', {}, ['publisher']],
    ['DELETE', '/agents/none', undefined, ['publisher']],
    ['PUT', '/slots/s', {}, ['publisher']],
  ];

  it.each(calls)('%s %s', async (method, path, body, allowed) => {
    for (const role of ['viewer', 'editor', 'publisher', 'auditor']) {
      const { status } = await admin.withKey(`key-${role}`).call(method, path, body);
      if (allowed.includes(role)) expect([200, 400, 404]).toContain(status);
      else expect(status).toBe(403);
    }
    expect(await admin.withKey('wrong').call(method, path, body)).toMatchObject({ status: 401 });
  });
});

describe('credentials', () => {
  it('are told without their values', async () => {
    const answer = await admin.get<{ ref: string }[]>('/credentials');
    const byRef = Object.fromEntries(answer.data.map((credential) => [credential.ref, credential]));
    expect(byRef).toMatchObject({
      'dify-open': { provider: 'dify', scope: null, environment: 'test', rotatedAt: null, usable: true },
      'new-api-scoped': { scope: ['somebody-else'], usable: true },
      'new-api-unset': { usable: false },
    });
    expect(JSON.stringify(answer)).not.toContain('canary');
  });
});

describe('the audit log', () => {
  it('keeps what was done to agents, by whom and why, and is whole', async () => {
    const agentKey = await newAgent();
    await publish(agentKey, await newVersion(agentKey, { ...newApi(), instructions: 'You write.' }));
    const { data } = await admin.get<{ items: Record<string, unknown>[] }>(
      `/audit-logs?subjectId=${agentKey}`,
    );
    expect(data.items).toMatchObject([
      {
        action: 'agent.published',
        actor: { kind: 'admin-key', name: 'all' },
        reason: 'reviewed',
        before: { currentVersion: null, status: 'DRAFT' },
        after: {
          currentVersion: 1,
          status: 'PUBLISHED',
          config: { newApi: { credentialRef: 'new-api-open' } },
        },
      },
      { action: 'agent.version-created' },
      { action: 'agent.created', before: null },
    ]);
    expect(await admin.get('/audit-logs/verify')).toMatchObject({ data: { valid: true, firstBroken: null } });
  });

  it('pages and refuses malformed filters', async () => {
    const page = await admin.get<{ items: { seq: number }[]; nextCursor: string }>('/audit-logs?limit=2');
    const [first, second] = page.data.items;
    const next = await admin.get<{ items: { seq: number }[] }>(
      `/audit-logs?limit=1&cursor=${page.data.nextCursor}`,
    );
    expect(second?.seq).toBe((first?.seq ?? 0) - 1);
    expect(next.data.items[0]?.seq).toBe((second?.seq ?? 0) - 1);
    expect(fields(await admin.get('/audit-logs?cursor=x&limit=1'))).toEqual(['cursor']);
    expect(fields(await admin.get('/audit-logs?from=yesterday'))).toEqual(['from']);
    expect(fields(await admin.get('/audit-logs?actor=%00'))).toEqual(['actor']);
  });
});
