import { createHmac } from 'node:crypto';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { WorkflowDefinition } from '../../../src/workflows/index.js';
import { ApiApp } from '../../support/external-api/api-app.js';
import { ApiClient, text, type Answer, type Data } from '../../support/external-api/api-client.js';
import { fails } from '../../support/engine/scripted-runtime.js';
import { createTestDatabase, type TestDatabase } from '../../support/test-database.js';
import { agent, chain, input, output } from '../engine/graphs.js';

const SECRET = `whsec_${Buffer.from('callback-secret-of-the-tests').toString('base64')}`;

interface Received {
  headers: IncomingMessage['headers'];
  body: string;
}

describe('callbacks', () => {
  let database: TestDatabase;
  let receiver: Server;
  let url: string;
  let env: Record<string, string>;
  let workflow: WorkflowDefinition;
  let api: ApiApp;
  let client: ApiClient;
  const received: Received[] = [];
  /** Statuses of the next answers; 200 when there are none. */
  const statuses: number[] = [];
  let heard: () => void = () => undefined;

  beforeAll(async () => {
    database = await createTestDatabase({ poolSize: 6 });
    receiver = createServer((request, response) => {
      let body = '';
      request.on('data', (chunk: Buffer) => (body += chunk.toString()));
      request.on('end', () => {
        received.push({ headers: request.headers, body });
        response.writeHead(statuses.shift() ?? 200).end();
        heard();
      });
    });
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
    const { port } = receiver.address() as AddressInfo;
    url = `http://127.0.0.1:${port}/hook`;
    process.env.TEST_CALLBACK_SECRET = SECRET;
    env = {
      CALLBACKS_ALLOWED_HOSTS: JSON.stringify([`127.0.0.1:${port}`]),
      CALLBACKS_CREDENTIAL_REF: 'callbacks',
      CREDENTIALS: JSON.stringify({ callbacks: { provider: 'callbacks', env: 'TEST_CALLBACK_SECRET' } }),
      TEST_CALLBACK_SECRET: SECRET,
    };
    api = await ApiApp.start(database, { env });
    client = new ApiClient(api.url);
    workflow = await api.test.workflow(chain(input(), agent('a'), output({ text: '{{ a.text }}' })));
  });
  afterAll(async () => {
    await api.close();
    receiver.closeAllConnections();
    await new Promise((resolve) => receiver.close(resolve));
    await database.close();
  });
  beforeEach(() => {
    received.length = 0;
    statuses.length = 0;
    api.test.runtime.scripts.clear();
  });

  const runs = () => `/workflows/${workflow.name}/runs`;
  const start = async (callbackUrl: string): Promise<Data> => {
    const { data } = await client.post(runs(), { callbackUrl });
    await client.post(text(data.links?.start));
    await client.stream(text(data.links?.stream));
    return data;
  };
  const until = async (count: number): Promise<void> => {
    while (received.length < count) await new Promise<void>((resolve) => (heard = resolve));
  };
  const stateOf = async (run: Data) => {
    const [row] = await database.dataSource.query<
      { state: string; attempts: number; error: string | null }[]
    >(`SELECT state, attempts, last_error AS error FROM run_callbacks WHERE run_id = $1`, [run.runId]);
    return row;
  };
  const untilState = async (run: Data, state: string): Promise<void> => {
    while ((await stateOf(run))?.state !== state) await new Promise((resolve) => setTimeout(resolve, 10));
  };

  it('sends the result, signed, once', async () => {
    const run = await start(url);
    await until(1);
    const { headers, body } = received[0] as Received;
    const id = String(headers['webhook-id']);
    const timestamp = String(headers['webhook-timestamp']);
    const signature = createHmac('sha256', 'callback-secret-of-the-tests')
      .update(`${id}.${timestamp}.${body}`)
      .digest('base64');
    expect(headers['webhook-signature']).toBe(`v1,${signature}`);
    expect(Math.abs(Number(timestamp) - Date.now() / 1000)).toBeLessThan(60);
    expect(headers['content-type']).toBe('application/json');
    const { type, timestamp: at, data } = JSON.parse(body) as { type: string; timestamp: string; data: Data };
    const result = await client.call(text(run.links?.result));
    expect([type, at]).toEqual(['run.completed', text(result.data.completedAt)]);
    expect(data).toEqual(result.data);
    await untilState(run, 'delivered');
    expect(await stateOf(run)).toEqual({ state: 'delivered', attempts: 1, error: null });
    expect(received).toHaveLength(1);
  });

  it('tells of a failure, and of a cancelled run that was never started', async () => {
    api.test.runtime.on('a', () => [fails('坏了')]);
    await start(url);
    await until(1);
    const cancelled = await client.post(runs(), { callbackUrl: url });
    await client.post(`${text(cancelled.data.links?.result)}/cancel`);
    await until(2);
    const types = received.map(({ body }) => JSON.parse(body) as { type: string; data: Data });
    expect(types.map(({ type, data }) => [type, text(data.status)])).toEqual([
      ['run.failed', 'FAILED'],
      ['run.failed', 'FAILED'],
    ]);
  });

  it('tries again with the same id until it is accepted', async () => {
    statuses.push(500, 302);
    const run = await start(url);
    await until(3);
    expect(new Set(received.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    await untilState(run, 'delivered');
    expect((await stateOf(run))?.attempts).toBe(3);
  });

  it('gives up at 410, and says why', async () => {
    statuses.push(410);
    const run = await start(url);
    await untilState(run, 'failed');
    expect(await stateOf(run)).toEqual({ state: 'failed', attempts: 1, error: 'the receiver answered 410' });
  });

  it('sends what another server, or one that died, left unsent', async () => {
    const silent = await ApiApp.start(database, { owner: 'silent', dataDir: api.dataDir });
    try {
      const there = new ApiClient(silent.url);
      const { data } = await there.post(runs(), {});
      await database.dataSource.query(`UPDATE runs SET callback_url = $2 WHERE run_id = $1`, [
        data.runId,
        JSON.stringify(url),
      ]);
      await there.post(text(data.links?.start));
      await until(1);
      expect((JSON.parse((received[0] as Received).body) as { data: Data }).data.runId).toBe(data.runId);
    } finally {
      await silent.close();
    }
  });

  it('follows no redirect to an internal address, and checks again when it sends', async () => {
    const { data } = await client.post(runs(), { callbackUrl: url });
    // What a name resolves to may have changed since the run was created.
    await database.dataSource.query(`UPDATE runs SET callback_url = $2 WHERE run_id = $1`, [
      data.runId,
      JSON.stringify('http://localhost:1/'),
    ]);
    await client.post(text(data.links?.start));
    while (!(await stateOf(data))?.error) await new Promise((resolve) => setTimeout(resolve, 10));
    expect((await stateOf(data))?.error).toMatch(/internal address/);
  });

  it.each([
    'http://127.0.0.1:1/',
    'http://localhost/',
    'http://10.0.0.1/',
    'http://169.254.169.254/latest/meta-data',
    'http://[::1]/',
    'http://[::ffff:192.168.0.1]/',
    'http://2130706433/',
    'ftp://example.com/',
    'file:///etc/passwd',
    'http://user:pass@93.184.216.34/',
    'not a url',
  ])('refuses %s at creation', async (callbackUrl) => {
    const answer: Answer = await client.post(runs(), { callbackUrl });
    expect([answer.status, answer.code]).toEqual([400, 'VALIDATION_FAILED']);
    expect(answer.message).toContain('callbackUrl');
  });

  it('refuses callbacks where no secret is configured, naming the key', async () => {
    const plain = await ApiApp.start(database, { owner: 'plain' });
    try {
      const answer = await new ApiClient(plain.url).post(runs(), { callbackUrl: 'https://93.184.216.34/' });
      expect([answer.status, answer.message]).toEqual([
        400,
        expect.stringContaining('callbacks.credential-ref'),
      ]);
    } finally {
      await plain.close();
    }
  });
});
