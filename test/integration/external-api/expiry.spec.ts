import { existsSync } from 'node:fs';
import { mkdir, readdir, symlink, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { ExpireWorkspaces } from '../../../src/runs/workspaces/expire-workspaces.js';
import type { WorkflowDefinition } from '../../../src/workflows/index.js';
import { ApiApp } from '../../support/external-api/api-app.js';
import { ApiClient, multipart, text, type Data } from '../../support/external-api/api-client.js';
import { readZip } from '../../support/external-api/read-zip.js';
import { createTestDatabase, type TestDatabase } from '../../support/test-database.js';
import { agent, chain, input, output } from '../engine/graphs.js';

describe('workspaces', () => {
  let database: TestDatabase;
  let api: ApiApp;
  let client: ApiClient;
  let workflow: WorkflowDefinition;

  beforeAll(async () => {
    database = await createTestDatabase({ poolSize: 6 });
    api = await ApiApp.start(database);
    client = new ApiClient(api.url);
    workflow = await api.test.workflow(chain(input(), agent('a'), output({ text: '{{ a.text }}' })));
  });
  afterAll(async () => {
    await api.close();
    await database.close();
  });

  const root = () => path.join(api.dataDir, 'workspaces');
  const create = async (ttlHours = 1): Promise<Data> => {
    const request = multipart([
      { name: 'payload', body: JSON.stringify({ ttlHours }) },
      { name: 'files', filename: 'a/b.txt', body: 'x' },
    ]);
    return (await client.call(`/workflows/${workflow.name}/runs`, { method: 'POST', ...request })).data;
  };
  const finish = async (run: Data): Promise<void> => {
    await client.post(text(run.links?.start));
    await client.stream(text(run.links?.stream));
  };
  const passHours = (run: Data, hours: number) =>
    database.dataSource.query(
      `UPDATE runs SET created_at = created_at - make_interval(hours => $2),
              completed_at = completed_at - make_interval(hours => $2) WHERE run_id = $1`,
      [run.runId, hours],
    );
  const expire = () => new ExpireWorkspaces(database.dataSource, api.test.workspaces);
  const folder = (run: Data) => path.join(root(), text(run.runId));

  it('go after ttlHours from the run’s end; the record stays and the endpoint says so', async () => {
    const run = await create(2);
    await finish(run);
    const before = await client.call(text(run.links?.result));
    await passHours(run, 1);
    await expire().execute();
    expect(existsSync(folder(run))).toBe(true);
    await passHours(run, 1);
    expect(await expire().execute()).toBe(1);
    expect(existsSync(folder(run))).toBe(false);
    const gone = await client.call(text(run.links?.workspace));
    expect([gone.status, gone.code]).toEqual([410, 'WORKSPACE_EXPIRED']);
    const again = await client.post(`${text(run.links?.result)}/rerun`);
    expect([again.status, again.code]).toEqual([410, 'WORKSPACE_EXPIRED']);
    const after = await client.call(text(run.links?.result));
    expect(after.data.outputs).toEqual(before.data.outputs);
    expect(after.data.workspace).toMatchObject({
      fileCount: 0,
      totalBytes: 0,
      expiredAt: expect.any(String) as string,
    });
    expect(await expire().execute()).toBe(0);
  });

  it('of a run that was never started go after ttlHours from its creation; it can no longer start', async () => {
    const run = await create(1);
    await passHours(run, 1);
    expect(await expire().execute()).toBe(1);
    expect(existsSync(folder(run))).toBe(false);
    const answer = await client.post(text(run.links?.start));
    expect([answer.status, answer.code]).toEqual([410, 'WORKSPACE_EXPIRED']);
  });

  it('of a run that is going on never go', async () => {
    const run = await create(1);
    await database.dataSource.query(
      `UPDATE runs SET status = 'RUNNING', created_at = created_at - interval '9000 hours',
              lease_owner = 'elsewhere', lease_until = now() + interval '1 hour' WHERE run_id = $1`,
      [run.runId],
    );
    expect(await expire().execute()).toBe(0);
    expect(existsSync(folder(run))).toBe(true);
  });

  it('go by the next server where one died in the middle', async () => {
    const run = await create(1);
    await passHours(run, 1);
    // The folder went, the commit did not come.
    await api.test.workspaces.discard(text(run.runId));
    const next = await ApiApp.start(database, { owner: 'next', dataDir: api.dataDir });
    try {
      while ((await client.call(text(run.links?.workspace))).status !== 410);
      while ((await readdir(path.join(root(), '.trash'))).length > 0);
    } finally {
      await next.close();
    }
  });

  it('that no run has, and files that no run got, are swept after a day', async () => {
    const old = new Date(Date.now() - 25 * 3_600_000);
    const make = async (name: string, at: Date): Promise<string> => {
      const directory = path.join(root(), name);
      await mkdir(directory, { recursive: true });
      await writeFile(path.join(directory, 'f'), 'x');
      await utimes(directory, at, at);
      return directory;
    };
    const gone = [await make('0123456789abcdef0123', old), await make('.staging/old', old)];
    const kept = [await make('0123456789abcdef0124', new Date()), await make('.staging/new', new Date())];
    const run = await create(1);
    await utimes(folder(run), old, old);
    await expire().sweep();
    expect(gone.filter((directory) => existsSync(directory))).toEqual([]);
    expect([...kept, folder(run)].filter((directory) => !existsSync(directory))).toEqual([]);
  });

  it('never show what a symbolic link points to', async () => {
    const run = await create(1);
    await symlink('/etc/passwd', path.join(folder(run), 'passwd'));
    await symlink('/etc', path.join(folder(run), 'etc'));
    const answer = await client.fetch(text(run.links?.workspace));
    const entries = await readZip(Buffer.from(await answer.arrayBuffer()));
    expect(entries.map(({ name }) => name)).toEqual(['a/b.txt']);
    expect((await client.call(text(run.links?.result))).data.workspace).toMatchObject({
      fileCount: 1,
      totalBytes: 1,
    });
  });
});
