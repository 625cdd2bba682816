import { readdir } from 'node:fs/promises';
import net from 'node:net';
import path from 'node:path';
import fc from 'fast-check';
import type { WorkflowDefinition } from '../../../src/workflows/index.js';
import { ApiApp } from '../../support/external-api/api-app.js';
import { ApiClient, list, multipart, text, type Part } from '../../support/external-api/api-client.js';
import { readZip } from '../../support/external-api/read-zip.js';
import { createTestDatabase, type TestDatabase } from '../../support/test-database.js';
import { agent, chain, input, output } from '../engine/graphs.js';

const LIMITS = {
  EXTERNAL_API_LIMITS_FILE_BYTES: '100kb',
  EXTERNAL_API_LIMITS_TOTAL_BYTES: '150kb',
  EXTERNAL_API_LIMITS_FILES: '5',
  EXTERNAL_API_LIMITS_FIELD_BYTES: '1kb',
};

describe('files of a run', () => {
  let database: TestDatabase;
  let api: ApiApp;
  let client: ApiClient;
  let workflow: WorkflowDefinition;
  let runs: string;

  beforeAll(async () => {
    database = await createTestDatabase();
    api = await ApiApp.start(database, { env: LIMITS });
    client = new ApiClient(api.url);
    workflow = await api.test.workflow(chain(input(), agent('a'), output({ text: '{{ a.text }}' })));
    runs = `/workflows/${workflow.name}/runs`;
  });
  afterAll(async () => {
    await api.close();
    await database.close();
  });

  const upload = (parts: Part[], options: Parameters<typeof multipart>[1] = {}) =>
    client.call(runs, { method: 'POST', ...multipart(parts, options) });
  const file = (relativePath: string, body: string | Uint8Array = 'x'): Part => ({
    name: 'files',
    filename: 'x',
    relativePath,
    body,
  });
  const download = async (workspace: string) => {
    const answer = await client.fetch(workspace);
    return readZip(Buffer.from(await answer.arrayBuffer()));
  };
  /** Everything below the workspaces' root but the folders of runs that exist. */
  const leftovers = async (): Promise<string[]> => {
    const root = path.join(api.dataDir, 'workspaces');
    const rows = await database.dataSource.query<{ run_id: string }[]>('SELECT run_id FROM runs');
    const known = new Set(rows.map(({ run_id }) => run_id));
    const found: string[] = [];
    for (const entry of await readdir(root, { withFileTypes: true })) {
      if (entry.name.startsWith('.')) found.push(...(await readdir(path.join(root, entry.name))));
      else if (!known.has(entry.name)) found.push(entry.name);
    }
    return found;
  };
  const countRuns = async (): Promise<number> => {
    const [row] = await database.dataSource.query<{ n: number }[]>('SELECT count(*)::integer AS n FROM runs');
    return row?.n ?? 0;
  };

  it('keeps names and contents byte for byte through upload, listing and zip', async () => {
    const names = ['报告.md', '资料/😀 ‘引号’.txt', 'a/b/ü\u0301.bin', "it's (1)*.md", '一'.repeat(85)];
    const bytes = new Uint8Array(Array.from({ length: 256 }, (_, at) => at));
    const { status, data } = await upload(names.map((name) => file(name, bytes)));
    expect(status).toBe(201);
    const entries = await download(text(data.links?.workspace));
    expect(entries.map(({ name }) => name)).toEqual([...names].sort());
    for (const { utf8, content } of entries) expect([utf8, content]).toEqual([true, Buffer.from(bytes)]);
    await client.post(text(data.links?.start));
    await client.stream(text(data.links?.stream));
    const result = await client.call(text(data.links?.result));
    expect(list(result.data.outputs?._workingDirFiles)).toEqual([...names].sort());
    expect(result.data.workspace).toMatchObject({ fileCount: names.length, totalBytes: 256 * names.length });
  });

  it('prefers X-Relative-Path to filename*, and filename* to filename', async () => {
    const form = Buffer.from(
      [
        `--b\r\nContent-Disposition: form-data; name="files"; filename="n"; filename*=UTF-8''in%2F%E4%B8%80.txt`,
        `\r\n\r\n1\r\n--b\r\nContent-Disposition: form-data; name="files"; filename="n"; filename*=UTF-8''other`,
        `\r\nX-Relative-Path: in/二.txt\r\n\r\n2\r\n--b--\r\n`,
      ].join(''),
    );
    const answer = await client.call(runs, {
      method: 'POST',
      headers: { 'content-type': 'multipart/form-data; boundary=b' },
      body: new Uint8Array(form),
    });
    const entries = await download(text(answer.data.links?.workspace));
    expect(entries.map(({ name, content }) => [name, content.toString()])).toEqual([
      ['in/一.txt', '1'],
      ['in/二.txt', '2'],
    ]);
  });

  it('takes what FormData of fetch sends', async () => {
    const form = new FormData();
    form.append('files', new Blob(['# 报告']), '报告.md');
    form.append('payload', new Blob(['{"variables":{}}'], { type: 'application/json' }));
    const { status, data } = await client.call(runs, { body: form });
    expect(status).toBe(201);
    expect((await download(text(data.links?.workspace))).map(({ name }) => name)).toEqual(['报告.md']);
  });

  it.each<[string, Part[], number, string]>([
    ['a path that leaves', [file('../evil.txt')], 400, 'VALIDATION_FAILED'],
    ['a path that leaves from inside', [file('a/../../evil.txt')], 400, 'VALIDATION_FAILED'],
    ['an absolute path', [file('/etc/passwd')], 400, 'VALIDATION_FAILED'],
    ['a drive', [file('C:x.txt')], 400, 'VALIDATION_FAILED'],
    ['a backslash', [file('a\\b.txt')], 400, 'VALIDATION_FAILED'],
    ['a long component', [file('x'.repeat(256))], 400, 'VALIDATION_FAILED'],
    ['a path twice', [file('a'), file('./a')], 400, 'VALIDATION_FAILED'],
    ['a file where a folder is', [file('a/b'), file('a')], 400, 'VALIDATION_FAILED'],
    ['a file below a file', [file('a'), file('a/b')], 400, 'VALIDATION_FAILED'],
    ['an unknown part', [{ name: 'file', filename: 'a' }], 400, 'VALIDATION_FAILED'],
    ['a payload that is no JSON', [file('a'), { name: 'payload', body: '{' }], 400, 'VALIDATION_FAILED'],
    ['a payload that is no object', [{ name: 'payload', body: '[]' }], 400, 'VALIDATION_FAILED'],
    ['a large payload', [{ name: 'payload', body: ' '.repeat(1100) }], 413, 'field-bytes'],
    ['a large file', [file('a', 'x'.repeat(103_000))], 413, 'file-bytes'],
    ['too much in all', [file('a', 'x'.repeat(90_000)), file('b', 'x'.repeat(90_000))], 413, 'total-bytes'],
    ['too many files', [1, 2, 3, 4, 5, 6].map((at) => file(`f${at}`)), 413, 'limits.files'],
  ])('refuses %s and leaves nothing behind', async (_, parts, status, named) => {
    const before = await countRuns();
    const answer = await upload([file('good.txt', 'kept?'), ...parts]);
    expect(answer.status).toBe(status);
    expect(`${answer.code} ${answer.message}`).toContain(named);
    expect(await countRuns()).toBe(before);
    expect(await leftovers()).toEqual([]);
  });

  it.each([
    ['no closing boundary', multipart([file('a')], { end: false })],
    [
      'no boundary in the type',
      { headers: { 'content-type': 'multipart/form-data' }, body: multipart([file('a')]).body },
    ],
    [
      'another boundary',
      { ...multipart([file('a')]), headers: { 'content-type': 'multipart/form-data; boundary=zz' } },
    ],
    ['no body', { headers: { 'content-type': 'multipart/form-data; boundary=zz' }, body: new Uint8Array() }],
  ])('refuses a multipart body with %s and leaves nothing behind', async (_, request) => {
    const answer = await client.call(runs, { method: 'POST', ...request });
    expect([answer.status, answer.code]).toEqual([400, 'VALIDATION_FAILED']);
    expect(await leftovers()).toEqual([]);
  });

  it.each([
    ['the key is wrong', 'wrong', 401, 3_000_000],
    ['a file is too large', 'demo-key', 413, 3_000_000],
    ['the whole says that it is too large', 'demo-key', 413, 30_000_000],
  ])('answers an upload that goes on although %s', async (_, key, status, bytes) => {
    const answer = await client.call(runs, {
      method: 'POST',
      key,
      ...multipart([file('a', new Uint8Array(bytes))]),
    });
    expect(answer.status).toBe(status);
    expect(await leftovers()).toEqual([]);
  });

  it('leaves nothing behind when the client goes away in the middle', async () => {
    const { headers, body } = multipart([file('a', 'x'.repeat(50_000)), file('b', 'x'.repeat(50_000))]);
    const { port } = new URL(api.url);
    const before = await countRuns();
    const socket = net.connect(Number(port), '127.0.0.1');
    const head = `POST /api/v1${runs} HTTP/1.1\r\nHost: x\r\nX-API-Key: demo-key\r\nContent-Type: ${headers['content-type']}\r\nContent-Length: ${body.length}\r\n\r\n`;
    socket.write(head);
    socket.write(body.subarray(0, 60_000));
    while ((await leftovers()).length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    socket.destroy();
    while ((await leftovers()).length > 0) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(await countRuns()).toBe(before);
  });

  it('never lets a path out of the workspace', async () => {
    const component = fc.oneof(
      fc.constantFrom('..', '.', '', 'a', '报', '...', '~', ' '),
      fc.string({ maxLength: 4 }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(component, { minLength: 1, maxLength: 5 }), async (components) => {
        const wanted = components.join('/').replace(/[\r\n"]/g, '');
        const answer = await upload([{ name: 'files', filename: wanted, body: 'x' }]);
        if (answer.status === 201) {
          const entries = await download(text(answer.data.links?.workspace));
          expect(entries).toHaveLength(1);
          expect(entries[0]?.name.split('/')).not.toContain('..');
        } else expect([answer.status, answer.code]).toEqual([400, 'VALIDATION_FAILED']);
        expect(await leftovers()).toEqual([]);
      }),
      { numRuns: 60 },
    );
  });
});
