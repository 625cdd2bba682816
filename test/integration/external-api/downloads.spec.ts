import { readdir, readlink } from 'node:fs/promises';
import path from 'node:path';
import type { WorkflowDefinition } from '../../../src/workflows/index.js';
import { ApiApp } from '../../support/external-api/api-app.js';
import { createRunWithFiles, openDownload } from '../../support/external-api/downloads.js';
import { readZip } from '../../support/external-api/read-zip.js';
import { createTestDatabase, type TestDatabase } from '../../support/test-database.js';
import { chain, input, output } from '../engine/graphs.js';

/** Too long to be over before the client goes. */
const LARGE = 2048 * 1024 * 1024;

/** Open files are seen in /proc. */
const onLinux = process.platform === 'linux' ? it : it.skip;

describe('downloads of a workspace', () => {
  let database: TestDatabase;
  let api: ApiApp;
  let workflow: WorkflowDefinition;

  beforeAll(async () => {
    database = await createTestDatabase();
    api = await ApiApp.start(database);
    workflow = await api.test.workflow(chain(input(), output({ a: 'b' })));
  });
  afterAll(async () => {
    await api.close();
    await database.close();
  });

  const openFiles = async (): Promise<string[]> => {
    const links = await Promise.all(
      (await readdir('/proc/self/fd')).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => '')),
    );
    return links.filter((link) => link.startsWith(path.join(api.dataDir, 'workspaces')));
  };

  onLinux('stop when the client goes, and leave no file open', async () => {
    const run = await createRunWithFiles(api, workflow, { large: LARGE });
    const response = await openDownload(api, run);
    await new Promise((resolve) => response.once('data', resolve));
    expect(await openFiles()).toHaveLength(1);
    response.destroy();
    while ((await openFiles()).length > 0) await new Promise((resolve) => setTimeout(resolve, 5));
  });

  onLinux('open one file at a time', async () => {
    const files = Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`f${at}`, 10_000]));
    const response = await openDownload(api, await createRunWithFiles(api, workflow, files));
    const chunks: Buffer[] = [];
    for await (const chunk of response as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      expect((await openFiles()).length).toBeLessThanOrEqual(2);
    }
    expect(await readZip(Buffer.concat(chunks))).toHaveLength(200);
  });
});
