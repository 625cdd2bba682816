import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ApiApp } from '../../support/external-api/api-app.js';
import { ApiClient, text, type StreamEvent } from '../../support/external-api/api-client.js';
import { says, thinks } from '../../support/engine/scripted-runtime.js';
import { createTestDatabase, type TestDatabase } from '../../support/test-database.js';
import { agent, chain, input, output } from '../engine/graphs.js';

const present = spawnSync('nginx', ['-v']).status === 0;
if (!present) process.stderr.write('nginx is not installed: the streams behind it are not tested\n');
const whereNginxIs = present ? describe : describe.skip;

/** A port nobody listens on at the moment. */
function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.on('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}

whereNginxIs('behind nginx with its default buffering', () => {
  let database: TestDatabase;
  let api: ApiApp;
  let folder: string;
  let nginx: ChildProcess;
  let client: ApiClient;
  /** Through an nginx that was told to compress even event streams. */
  let compressing: ApiClient;

  beforeAll(async () => {
    database = await createTestDatabase();
    api = await ApiApp.start(database);
    folder = await mkdtemp(path.join(tmpdir(), 'nginx-'));
    const port = await freePort();
    const gzipPort = await freePort();
    const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
    for (const name of temporary) await mkdir(path.join(folder, name));
    await writeFile(
      path.join(folder, 'nginx.conf'),
      `
      ${process.getuid?.() === 0 ? 'user root;' : ''}
      daemon off; pid ${folder}/pid; error_log stderr; worker_processes 1;
      events {}
      http {
        access_log off;
        ${temporary.map((name) => `${name}_temp_path ${folder}/${name};`).join('\n')}
        client_max_body_size 100m;
        gzip on; gzip_proxied any; gzip_min_length 1;
        server { listen 127.0.0.1:${port}; location / { proxy_pass ${api.url}; } }
        server { listen 127.0.0.1:${gzipPort}; gzip_types *; location / { proxy_pass ${api.url}; } }
      }`,
    );
    nginx = spawn('nginx', ['-c', path.join(folder, 'nginx.conf'), '-p', folder], { stdio: 'ignore' });
    client = new ApiClient(`http://127.0.0.1:${port}`);
    compressing = new ApiClient(`http://127.0.0.1:${gzipPort}`);
    for (;;) {
      const answer = await client.call('/workflows').catch(() => null);
      if (answer?.status === 200) break;
      if (nginx.exitCode !== null) throw new Error('nginx did not start');
    }
  });
  afterAll(async () => {
    const exited = new Promise((resolve) => nginx.once('exit', resolve));
    nginx.kill('SIGTERM');
    await exited;
    await api.close();
    await database.close();
    await rm(folder, { recursive: true, force: true });
  });

  it.each<[string, () => ApiClient, string | null]>([
    ['uncompressed', () => client, null],
    ['also where nginx compresses everything', () => compressing, 'gzip'],
  ])('events arrive when they happen, %s', async (_, through, encoding) => {
    let speak!: () => void;
    const told = new Promise<void>((resolve) => (speak = resolve));
    api.test.runtime.on('a', async function* () {
      yield thinks('first');
      yield { type: 'runtime.tool_call', callId: 'c', tool: 'search', args: {} };
      await told;
      yield says('done');
    } as never);
    const workflow = await api.test.workflow(chain(input(), agent('a'), output({ t: '{{ a.text }}' })));
    const { data } = await through().post(`/workflows/${workflow.name}/runs`, {});
    const stream = text(data.links?.stream);
    const headers = { 'accept-encoding': 'gzip' };
    // The headers come before anything has happened.
    const opened = await through().fetch(stream, { headers });
    expect(opened.headers.get('content-encoding')).toBe(encoding);
    await through().post(text(data.links?.start));
    // Comes while the agent still waits to be told to go on.
    const until = ({ event }: StreamEvent): boolean => event === 'node_stream';
    const { events } = await through().stream(stream, { headers, until });
    expect(events.at(-1)?.data.content).toBe('first');
    speak();
    const whole = await through().stream(stream, { headers });
    expect(whole.events.at(-1)?.event).toBe('workflow_complete');
    await opened.body?.cancel();
  });
});
