import pg from 'pg';
import { json } from '../../support/providers/play.js';
import { difyFinished, difyWorkflowFrames } from '../../support/providers/dify-stub.js';
import {
  AGENTS,
  CANARIES,
  connected,
  data,
  publishAgents,
  startProviders,
  workflowOf,
  type Providers,
} from '../../support/providers/provider-server.js';
import { createTestDatabase, type TestDatabase } from '../../support/test-database.js';
import { TestServer } from '../../support/test-server.js';

type Json = Record<string, unknown>;

let database: TestDatabase;
let providers: Providers;
let server: TestServer;

beforeAll(async () => {
  providers = await startProviders();
  database = await createTestDatabase();
  server = await TestServer.start({
    databaseUrl: database.url,
    environment: { NODE_ENV: 'development', LOG_LEVEL: 'debug', ...connected(providers) },
  });
  await publishAgents(server);
});
afterAll(async () => {
  await server.stop();
  await database.close();
  await providers.close();
});
beforeEach(() => {
  for (const stub of [providers.newApi, providers.dify, providers.agentscope, providers.sessions])
    stub.reset();
});

async function runOf(name: string): Promise<{ runId: string; result: Json; stream: string }> {
  const runs = `/api/v1/workflows/${name}/runs`;
  const { runId } = await data(server.request('POST', runs, { variables: { topic: 'the sea' } }));
  await data(server.request('POST', `${runs}/${String(runId)}/start`));
  const stream = await (await server.request('GET', `${runs}/${String(runId)}/stream`)).text();
  return {
    runId: String(runId),
    result: await data(server.request('GET', `${runs}/${String(runId)}`)),
    stream,
  };
}

async function callsOf(runId: string): Promise<Json[]> {
  const { items } = await data(server.request('GET', `/admin/v1/runtime-calls?runId=${runId}`));
  return items as Json[];
}

async function install(name: string, agentKeys: readonly string[]): Promise<void> {
  await data(server.request('POST', '/admin/v1/workflows', workflowOf(name, agentKeys)));
}

describe('a workflow with one node per provider', () => {
  it('runs from the external API, each node by its own runtime', async () => {
    await install('everywhere', Object.keys(AGENTS));
    const { runId, result } = await runOf('everywhere');
    expect(result.error).toBeNull();
    expect(result.status).toBe('SUCCESS');
    expect(result.outputs).toMatchObject({
      'on-hermes': expect.stringMatching(/./) as string,
      'on-new-api': 'Hello, world',
      'on-dify': 'Hello, world',
      'on-agentscope': 'Hello, world',
      'on-sessions': 'Hello, world',
    });
    const calls = await callsOf(runId);
    expect(calls.map(({ provider, status }) => [provider, status])).toEqual(
      expect.arrayContaining([
        ['new-api', 'SUCCEEDED'],
        ['dify', 'SUCCEEDED'],
        ['agentscope', 'SUCCEEDED'],
      ]),
    );
    const attributed = calls.filter(({ attribution }) => attribution === 'attributed');
    expect(attributed.map(({ provider, providerRequestId }) => [provider, providerRequestId])).toEqual([
      ['new-api', 'req-20260101-1'],
    ]);
    expect(providers.dify.posts).toBe(1);
  });
});

describe('a key', () => {
  const keys = Object.values(CANARIES);

  function expectNoKey(text: string): void {
    for (const key of keys) expect(text).not.toContain(key);
  }

  it('is found nowhere, whether calls succeed or fail, and whatever providers repeat', async () => {
    await install('leaky', ['on-new-api', 'on-dify', 'on-agentscope']);
    const said: string[] = [];
    const statuses: unknown[] = [];
    const failures = [
      () => undefined,
      () => {
        providers.newApi.next(json(401, { error: { message: `bad key ${CANARIES.newApi}` } }));
      },
      () => {
        providers.dify.next(
          json(400, { code: CANARIES.dify, message: `bad key ${CANARIES.dify}`, status: 400 }),
        );
      },
      () => {
        providers.dify.next({
          pieces: [
            ...difyWorkflowFrames(['x']).slice(0, -1),
            difyFinished('failed', {}, `key ${CANARIES.dify}`),
          ],
        });
      },
      () => {
        providers.dify.next({
          pieces: difyWorkflowFrames([CANARIES.dify.slice(0, 9), CANARIES.dify.slice(9)]),
        });
      },
      () => {
        providers.agentscope.next({ pieces: [`data: {"error":"key ${CANARIES.agentscope}"}\n\n`] });
      },
    ];
    for (const prepare of failures) {
      prepare();
      const { runId, result, stream } = await runOf('leaky');
      statuses.push(result.status);
      said.push(JSON.stringify(result), stream, JSON.stringify(await callsOf(runId)));
    }
    for (const path of [
      '/admin/v1/credentials',
      '/admin/v1/audit-logs',
      '/admin/v1/usage',
      '/admin/v1/agents',
      '/docs/openapi.json',
      '/metrics',
    ]) {
      said.push(await (await server.request('GET', path)).text());
    }
    expect(statuses).toEqual(['SUCCESS', 'FAILED', 'FAILED', 'FAILED', 'SUCCESS', 'FAILED']);
    expectNoKey(said.join('\n'));
    expectNoKey(server.logs());
    expectNoKey(await dump(database.url));
  });
});

/** Every row of every table, as text. */
async function dump(url: string): Promise<string> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    const tables = await client.query<{ name: string }>(
      `SELECT quote_ident(table_name) AS name FROM information_schema.tables WHERE table_schema = 'public'`,
    );
    const rows: string[] = [];
    for (const { name } of tables.rows) {
      const { rows: found } = await client.query<{ row: string }>(`SELECT t::text AS row FROM ${name} t`);
      rows.push(...found.map(({ row }) => row));
    }
    expect(rows.length).toBeGreaterThan(0);
    return rows.join('\n');
  } finally {
    await client.end();
  }
}
