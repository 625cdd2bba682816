import { chmod, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ServerDidNotStartError, TestServer } from '../support/test-server.js';
import { createTestDatabase } from '../support/test-database.js';

const failure = (start: Promise<TestServer>): Promise<ServerDidNotStartError> =>
  start.then(
    async (server) => {
      await server.stop();
      throw new Error('the server started');
    },
    (error: unknown) => {
      if (error instanceof ServerDidNotStartError) return error;
      throw error;
    },
  );

describe('the server process', () => {
  let directory: string;
  let dataDir: string;
  beforeEach(async () => {
    directory = await mkdtemp(path.join(tmpdir(), 'lifecycle-'));
    await chmod(directory, 0o711);
    dataDir = path.join(directory, 'data');
  });
  afterEach(() => rm(directory, { recursive: true }));

  it('serves from an embedded PostgreSQL, is ready, and leaves nothing behind at SIGTERM', async () => {
    const server = await TestServer.start({ dataDir });
    expect(server.logs()).toMatch(/^listening on http:\/\/127\.0\.0\.1:\d+$/m);
    for (const probe of ['live', 'ready']) {
      const answer = await fetch(`${server.url}/health/${probe}`);
      expect([answer.status, await answer.json()]).toEqual([200, expect.objectContaining({ status: 'ok' })]);
    }
    expect(server.descendants().length).toBeGreaterThan(0);
    await server.stop();
    expect((await stat(path.join(dataDir, 'postgres/password'))).mode & 0o777).toBe(0o600);
  });

  it('refuses a data folder that another server uses; that one goes on', async () => {
    const server = await TestServer.start({ dataDir });
    const { exit, output } = await failure(TestServer.start({ dataDir }));
    expect(exit?.code).toBe(1);
    expect(output).toMatch(/the data folder .*data is in use by another server/);
    expect((await fetch(`${server.url}/health/ready`)).status).toBe(200);
    await server.stop();
  });

  it('starts again on what kill -9 left, ending the PostgreSQL that lived on', async () => {
    const body = {
      name: 'kept',
      displayName: 'kept',
      description: '',
      mode: 'DAG',
      graphData: {
        nodes: [
          { id: 'in', type: 'userInput', data: { fields: [] } },
          { id: 'out', type: 'output', data: { fields: [{ name: 'a', value: 'b' }] } },
        ],
        edges: [{ id: 'e', source: 'in', target: 'out' }],
      },
      settings: {},
    };
    const first = await TestServer.start({ dataDir });
    expect((await first.request('POST', '/admin/v1/workflows', body)).status).toBe(201);
    await first.kill9();
    await first.forget();
    const second = await TestServer.start({ dataDir });
    expect((await second.request('GET', '/admin/v1/workflows/kept')).status).toBe(200);
    await second.stop();
  });

  it("does not mistake a process that got the old PostgreSQL's id for it", async () => {
    const first = await TestServer.start({ dataDir });
    await first.stop();
    const file = path.join(dataDir, 'postgres/data/postmaster.pid');
    await writeFile(file, `${process.pid}\n${dataDir}/postgres/data\n`);
    const second = await TestServer.start({ dataDir });
    await second.stop();
    await expect(readFile(file)).rejects.toThrow('ENOENT');
  });

  it('keeps its rows where DATABASE_URL says', async () => {
    const database = await createTestDatabase();
    const server = await TestServer.start({ dataDir, databaseUrl: database.url });
    expect((await fetch(`${server.url}/health/ready`)).status).toBe(200);
    await expect(stat(path.join(dataDir, 'postgres'))).rejects.toThrow('ENOENT');
    await server.stop();
    await database.close();
  });

  it('ends with one message that names every bad key, before anything is started', async () => {
    const configYaml = 'no-such-section:\n  x: 1\nhermes:\n  context-query:\n    token-ttl-seconds: soon\n';
    const { exit, output } = await failure(TestServer.start({ dataDir, configYaml }));
    expect(exit?.code).toBe(1);
    expect(output).toContain('no-such-section: is not a known key');
    expect(output).toContain('hermes.context-query.token-ttl-seconds: expected number');
    await expect(stat(dataDir)).rejects.toThrow('ENOENT');
  });

  it('ends cleanly when its port is taken', async () => {
    const server = await TestServer.start({ dataDir });
    const port = new URL(server.url).port;
    const other = path.join(directory, 'other');
    const { exit, output } = await failure(TestServer.start({ dataDir: other, environment: { PORT: port } }));
    expect(exit?.code).toBe(1);
    expect(output).toContain('EADDRINUSE');
    expect(output).not.toContain('the bridge did not start');
    await server.stop();
    // The refused one has given its data folder free and stopped its PostgreSQL.
    await (await TestServer.start({ dataDir: other })).stop();
  });

  it('starts its PostgreSQL again when that ends by itself', async () => {
    const server = await TestServer.start({ dataDir });
    const pidFile = path.join(dataDir, 'postgres/data/postmaster.pid');
    const [before = ''] = (await readFile(pidFile, 'utf8')).split('\n');
    process.kill(Number(before), 'SIGKILL');
    expect((await fetch(`${server.url}/health/ready`)).status).toBe(200);
    expect((await server.request('GET', '/admin/v1/workflows')).status).toBe(200);
    const [after = ''] = (await readFile(pidFile, 'utf8')).split('\n');
    expect(after).not.toBe(before);
    await server.stop();
  });
});
