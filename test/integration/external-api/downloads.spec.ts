import { readdir, readlink, truncate, writeFile } from 'node:fs/promises';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import path from 'node:path';
import type { WorkflowDefinition } from '../../../src/workflows/index.js';
import { ApiApp } from '../../support/external-api/api-app.js';
import { ApiClient, text, type Data } from '../../support/external-api/api-client.js';
import { memoryInUse } from '../../support/memory-in-use.js';
import { readZip, zippedSizes } from '../../support/external-api/read-zip.js';
import { createTestDatabase, type TestDatabase } from '../../support/test-database.js';
import { chain, input, output } from '../engine/graphs.js';

const MEGABYTE = 1024 * 1024;
const LARGE = 2048 * MEGABYTE;

/** Open files are seen in /proc. */
const onLinux = process.platform === 'linux' ? it : it.skip;

describe('downloads of a workspace', () => {
  let database: TestDatabase;
  let api: ApiApp;
  let client: ApiClient;
  let workflow: WorkflowDefinition;

  beforeAll(async () => {
    database = await createTestDatabase();
    api = await ApiApp.start(database);
    client = new ApiClient(api.url);
    workflow = await api.test.workflow(chain(input(), output({ a: 'b' })));
  });
  afterAll(async () => {
    await api.close();
    await database.close();
  });

  const create = async (files: Record<string, number>): Promise<Data> => {
    const { data } = await client.post(`/workflows/${workflow.name}/runs`, {});
    const directory = await api.test.workspaces.create(text(data.runId));
    for (const [name, bytes] of Object.entries(files)) {
      await writeFile(path.join(directory, name), name);
      // Sparse: as large as one likes without taking room.
      await truncate(path.join(directory, name), bytes);
    }
    return data;
  };
  const open = (run: Data): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      const target = api.url + text(run.links?.workspace);
      const outgoing = httpRequest(target, { agent: false, headers: { 'x-api-key': 'demo-key' } });
      outgoing.on('error', reject);
      outgoing.on('response', resolve);
      outgoing.end();
    });
  const openFiles = async (): Promise<string[]> => {
    const links = await Promise.all(
      (await readdir('/proc/self/fd')).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => '')),
    );
    return links.filter((link) => link.startsWith(path.join(api.dataDir, 'workspaces')));
  };

  it('stream 2 GB with flat memory', async () => {
    const run = await create({ large: LARGE, small: 10 });
    const before = await memoryInUse();
    let most = 0;
    let looked = Date.now();
    // Zeros pack well: what arrives is small.
    const chunks: Buffer[] = [];
    for await (const chunk of (await open(run)) as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      if (Date.now() - looked < 1_000) continue;
      most = Math.max(most, await memoryInUse());
      looked = Date.now();
    }
    expect(most).toBeGreaterThan(0);
    expect(await zippedSizes(Buffer.concat(chunks))).toEqual({ large: LARGE, small: 10 });
    expect(most - before).toBeLessThan(20 * MEGABYTE);
  }, 300_000);

  onLinux(
    'stop when the client goes, and leave no file open',
    async () => {
      const run = await create({ large: LARGE });
      const response = await open(run);
      await new Promise((resolve) => response.once('data', resolve));
      expect(await openFiles()).toHaveLength(1);
      response.destroy();
      while ((await openFiles()).length > 0) await new Promise((resolve) => setTimeout(resolve, 5));
    },
    20_000,
  );

  onLinux(
    'open one file at a time',
    async () => {
      const run = await create(
        Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`f${at}`, 10_000])),
      );
      const response = await open(run);
      const chunks: Buffer[] = [];
      for await (const chunk of response as AsyncIterable<Buffer>) {
        chunks.push(chunk);
        expect((await openFiles()).length).toBeLessThanOrEqual(2);
      }
      expect(await readZip(Buffer.concat(chunks))).toHaveLength(200);
    },
    20_000,
  );
});
