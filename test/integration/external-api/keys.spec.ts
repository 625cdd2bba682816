import { ApiKeyRepository, ApiKeys, CreateApiKey, RevokeApiKey } from '../../../src/api-keys/index.js';
import type { WorkflowDefinition } from '../../../src/workflows/index.js';
import { ApiApp } from '../../support/external-api/api-app.js';
import { ApiClient, list, text, type Answer } from '../../support/external-api/api-client.js';
import { untilAborted } from '../../support/engine/scripted-runtime.js';
import { createTestDatabase, type TestDatabase } from '../../support/test-database.js';
import { agent, chain, input, output } from '../engine/graphs.js';

/** Who makes keys here, as the audit log names them. */
const BY_ADMIN = { actor: { kind: 'admin-key', name: 'admin' }, correlationId: null } as const;

const KEYS = [
  { name: 'all', key: 'key-all' },
  { name: 'by-name', key: 'key-by-name', workflowNames: ['visible'] },
  { name: 'limited', key: 'key-limited', requestsPerMinute: 5 },
  { name: 'shared', key: 'key-shared', requestsPerMinute: 20 },
  { name: 'two-runs', key: 'key-two-runs', maxConcurrentRuns: 2 },
  { name: 'expired', key: 'key-expired', expiresAt: '2020-01-01T00:00:00Z' },
];

describe('API keys', () => {
  let database: TestDatabase;
  let api: ApiApp;
  let other: ApiApp;
  let workflow: WorkflowDefinition;

  beforeAll(async () => {
    database = await createTestDatabase({ poolSize: 8 });
    const env = { EXTERNAL_API_KEYS: JSON.stringify(KEYS) };
    api = await ApiApp.start(database, { env, owner: 'one' });
    other = await ApiApp.start(database, { env, owner: 'two', dataDir: api.dataDir });
    const graph = chain(input(), agent('a'), output({ text: '{{ a.text }}' }));
    workflow = await api.test.workflow(graph, { name: 'visible' });
    await api.test.workflow(graph, { name: 'hidden' });
  });
  afterAll(async () => {
    await other.close();
    await api.close();
    await database.close();
  });

  const as = (key: string, of: ApiApp = api) => new ApiClient(of.url, key);
  const status = async (answer: Promise<Answer>) => (await answer).status;

  it.each([null, '', 'wrong', 'key-expired', 'key-all,key-all', 'x'.repeat(5000)])(
    'refuses the key %j',
    async (key) => {
      const failed = api.app.get(ApiKeys).failedAttempts;
      const answer = await as('').call('/workflows', { key });
      expect([answer.status, answer.code, answer.data]).toEqual([401, 'UNAUTHORIZED', null]);
      expect(api.app.get(ApiKeys).failedAttempts).toBe(failed + 1);
    },
  );

  it('tells the same about a key that is unknown and one that has expired', async () => {
    const [unknown, expired] = await Promise.all(
      ['wrong', 'key-expired'].map((key) => as(key).call('/workflows')),
    );
    expect(expired?.text).toBe(unknown?.text);
  });

  it('shows a scoped key its workflows only; the others look as if they were not there', async () => {
    const client = as('key-by-name');
    expect(list((await client.call('/workflows')).data).map(({ name }) => name)).toEqual(['visible']);
    const run = (await as('key-all').post('/workflows/hidden/runs', {})).data;
    const id = list((await as('key-all').call('/workflows')).data).find(
      ({ name }) => text(name) === 'hidden',
    )?.id;
    const rest = ['', '/runs', `/runs/${text(run.runId)}`, `/runs/${text(run.runId)}/stream`];
    for (const path of rest) {
      const hidden = await client.call(`/workflows/hidden${path}`);
      const missing = await client.call(`/workflows/missing${path}`);
      expect([hidden.status, hidden.code]).toEqual([404, 'WORKFLOW_NOT_FOUND']);
      expect(hidden.text).toBe(missing.text);
      expect((await client.call(`/workflows/${JSON.stringify(id)}${path}`)).text).toBe(missing.text);
    }
    expect((await client.post('/workflows/hidden/runs', {})).code).toBe('WORKFLOW_NOT_FOUND');
  });

  it('finds a run under its own workflow’s path only', async () => {
    const run = (await as('key-all').post('/workflows/hidden/runs', {})).data;
    const answer = await as('key-all').call(`/workflows/visible/runs/${text(run.runId)}`);
    expect([answer.status, answer.code]).toEqual([404, 'RUN_NOT_FOUND']);
  });

  it('limits by workflow id as well, with keys of the admin API; a revoked key ends at once', async () => {
    const { entity, key } = await api.app
      .get(CreateApiKey)
      .execute({ name: 'stored', workflowIds: [workflow.workflowId] }, BY_ADMIN);
    expect(list((await as(key).call('/workflows')).data).map(({ name }) => name)).toEqual(['visible']);
    expect((await api.app.get(ApiKeyRepository).find(entity.id))?.lastUsedAt).toBeInstanceOf(Date);
    const stored = await database.dataSource.query<unknown[]>('SELECT * FROM api_keys');
    expect(JSON.stringify(stored)).not.toContain(key);
    await api.app.get(RevokeApiKey).execute(entity.id, BY_ADMIN);
    expect(await status(as(key).call('/workflows'))).toBe(401);
  });

  it('answers 429 with Retry-After when the minute is used up, and goes on after it', async () => {
    const client = as('key-limited');
    const statuses = [];
    for (let at = 0; at < 5; at += 1) statuses.push(await status(client.call('/workflows')));
    expect(statuses).toEqual([200, 200, 200, 200, 200]);
    const limited = await client.call('/workflows');
    expect([limited.status, limited.code]).toEqual([429, 'RATE_LIMITED']);
    const wait = Number(limited.headers.get('retry-after'));
    expect(wait).toBeGreaterThanOrEqual(1);
    expect(wait).toBeLessThanOrEqual(12);
    await database.dataSource.query(
      `UPDATE api_key_rates SET used_until = used_until - make_interval(secs => $1) WHERE key_name = 'limited'`,
      [wait],
    );
    expect(await status(client.call('/workflows'))).toBe(200);
    expect(await status(client.call('/workflows'))).toBe(429);
  });

  it('counts the requests of a key in all servers together', async () => {
    const clients = [as('key-shared'), as('key-shared', other)];
    const statuses = await Promise.all(
      Array.from({ length: 30 }, (_, at) => status((clients[at % 2] ?? as('')).call('/workflows'))),
    );
    const taken = statuses.filter((one) => one === 200).length;
    expect(taken).toBeGreaterThanOrEqual(20);
    // A minute's worth, and what came back while the requests were made.
    expect(taken).toBeLessThanOrEqual(25);
    expect(statuses.filter((one) => one === 429)).toHaveLength(30 - taken);
  });

  it('limits the runs of a key at the same time, in all servers together', async () => {
    for (const one of [api, other]) one.test.runtime.on('a', (_, signal) => untilAborted(signal));
    const clients = [as('key-two-runs'), as('key-two-runs', other)] as const;
    const runs = await Promise.all(
      Array.from({ length: 6 }, async () => (await clients[0].post('/workflows/visible/runs', {})).data),
    );
    const answers = await Promise.all(
      runs.map((run, at) => clients[at % 2 === 0 ? 0 : 1].post(text(run.links?.start))),
    );
    expect(answers.map((answer) => answer.status).sort()).toEqual([200, 200, 429, 429, 429, 429]);
    const refused = answers.find((answer) => answer.status === 429);
    expect([refused?.code, Number(refused?.headers.get('retry-after'))]).toEqual([
      'RATE_LIMITED',
      expect.any(Number),
    ]);
    const at = answers.findIndex((answer) => answer.status === 200);
    await clients[0].post(`${text(runs[at]?.links?.result)}/cancel`);
    const waiting = answers.findIndex((answer) => answer.status === 429);
    expect(await status(clients[0].post(text(runs[waiting]?.links?.start)))).toBe(200);
    for (const run of runs) await clients[0].post(`${text(run.links?.result)}/cancel`);
  });
});
