import { setTimeout as delay } from 'node:timers/promises';
import { difyWorkflowFrames, RUN_ID } from '../support/providers/dify-stub.js';
import {
  connected,
  data,
  publishAgents,
  startProviders,
  workflowOf,
  type Providers,
} from '../support/providers/provider-server.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { TestServer } from '../support/test-server.js';
import { PATIENCE_MILLIS } from '../support/patience.js';

type Json = Record<string, unknown>;

let database: TestDatabase;
let providers: Providers;

beforeAll(async () => {
  providers = await startProviders();
  database = await createTestDatabase();
});
afterAll(async () => {
  await database.close();
  await providers.close();
});

function startServer(): Promise<TestServer> {
  return TestServer.start({
    databaseUrl: database.url,
    environment: {
      NODE_ENV: 'development',
      ENGINE_LEASE_SECONDS: '2',
      ENGINE_SWEEP_SECONDS: '0.5',
      ...connected(providers),
    },
  });
}

/** Asks until the answer is as wanted; else fails, saying what it was. */
async function until<T>(ask: () => Promise<T>, isWanted: (answer: T) => boolean): Promise<T> {
  const end = Date.now() + PATIENCE_MILLIS;
  for (;;) {
    const answer = await ask();
    if (isWanted(answer)) return answer;
    if (Date.now() > end) throw new Error(`still ${JSON.stringify(answer)}`);
    await delay(50);
  }
}

it('a server killed while Dify runs finds the run again by polling, and never posts it twice', async () => {
  const first = await startServer();
  await publishAgents(first);
  await data(first.request('POST', '/admin/v1/workflows', workflowOf('on-dify-only', ['on-dify'])));
  providers.dify.next({ pieces: difyWorkflowFrames(['Hello']).slice(0, 3), then: 'silence' });
  const runs = '/api/v1/workflows/on-dify-only/runs';
  const { runId } = await data(first.request('POST', runs, { variables: { topic: 'the sea' } }));
  const run = `${runs}/${String(runId)}`;
  await data(first.request('POST', `${run}/start`));
  const calls = async (server: TestServer): Promise<Json[]> =>
    (await data(server.request('GET', `/admin/v1/runtime-calls?runId=${String(runId)}`))).items as Json[];
  await until(
    () => calls(first),
    ([call]) => call?.status === 'STARTED' && call.providerRequestId === RUN_ID,
  );
  await first.kill9();
  await first.forget();

  providers.dify.runs = [
    { status: 'running' },
    { status: 'succeeded', outputs: { text: 'Written meanwhile' }, total_tokens: 9 },
  ];
  const second = await startServer();
  try {
    const result = await until(
      () => data(second.request('GET', run)),
      ({ status }) => status !== 'RUNNING',
    );
    expect(result).toMatchObject({ status: 'SUCCESS', outputs: { 'on-dify': 'Written meanwhile' } });
    expect(await calls(second)).toMatchObject([
      { status: 'SUCCEEDED', providerRequestId: RUN_ID, usage: { totalTokens: 9 } },
    ]);
    expect(providers.dify.posts).toBe(1);
  } finally {
    await second.stop();
  }
}, 90_000);
