import { ApiApp } from '../support/external-api/api-app.js';
import { createRunWithFiles, openDownload } from '../support/external-api/downloads.js';
import { zippedSizes } from '../support/external-api/read-zip.js';
import { memoryInUse } from '../support/memory-in-use.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { chain, input, output } from '../integration/engine/graphs.js';

const MEGABYTE = 1024 * 1024;
const LARGE = 2048 * MEGABYTE;

describe('the download of a workspace', () => {
  let database: TestDatabase;
  let api: ApiApp;

  beforeAll(async () => {
    database = await createTestDatabase();
    api = await ApiApp.start(database);
  });
  afterAll(async () => {
    await api.close();
    await database.close();
  });

  it('streams 2 GB with flat memory', async () => {
    const workflow = await api.test.workflow(chain(input(), output({ a: 'b' })));
    const run = await createRunWithFiles(api, workflow, { large: LARGE, small: 10 });
    const before = await memoryInUse();
    let most = 0;
    let looked = Date.now();
    // Zeros pack well: what arrives is small.
    const chunks: Buffer[] = [];
    for await (const chunk of (await openDownload(api, run)) as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      if (Date.now() - looked < 1_000) continue;
      most = Math.max(most, await memoryInUse());
      looked = Date.now();
    }
    expect(most).toBeGreaterThan(0);
    expect(await zippedSizes(Buffer.concat(chunks))).toEqual({ large: LARGE, small: 10 });
    expect(most - before).toBeLessThan(20 * MEGABYTE);
  }, 600_000);
});
