import { chmod, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { startBridgeProcess } from '../../support/bridge/bridge-process.js';
import { BRIDGE_SECRET } from '../../support/bridge/running-bridge.js';
import { send } from '../../support/context-query/context-client.js';
import { startTokenRecorder } from '../../support/context-query/token-recorder.js';
import { createTestDatabase } from '../../support/test-database.js';
import { TestServer } from '../../support/test-server.js';

const definition = {
  name: 'canary',
  displayName: 'canary',
  description: '',
  mode: 'DAG',
  settings: {},
  graphData: {
    nodes: [
      { id: 'in', type: 'userInput', data: { fields: [] } },
      {
        id: 'asks',
        type: 'agent',
        data: { label: 'asks', model: 'demo', prompt: 'Ask.', tools: ['write_file'] },
      },
      {
        id: 'errs',
        type: 'agent',
        data: {
          label: 'errs',
          model: 'demo',
          failStrategy: 'skip',
          prompt:
            '@call get_node_output {"node_id":"nobody"}\n@call get_node_meta {"kind":"nonsense"}\n@fail on purpose',
        },
      },
      {
        id: 'late',
        type: 'agent',
        data: {
          label: 'late',
          model: 'demo',
          failStrategy: 'skip',
          timeoutSeconds: 1,
          prompt: '@sleep 5000',
        },
      },
      { id: 'out', type: 'output', data: { fields: [{ name: 'text', value: '{{ asks.text }}' }] } },
    ],
    edges: ['asks', 'errs', 'late'].flatMap((id) => [
      { id: `in-${id}`, source: 'in', target: id, sourceHandle: null },
      { id: `${id}-out`, source: id, target: 'out', sourceHandle: null },
    ]),
  },
};

/** Every file below a folder, as bytes that a text can be found in. */
async function filesIn(folder: string): Promise<Map<string, Buffer>> {
  const found = new Map<string, Buffer>();
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const file = path.join(entry.parentPath, entry.name);
    if (entry.isFile()) found.set(file, await readFile(file));
  }
  return found;
}

/** Every row of every table as JSON text. */
async function dump(url: string): Promise<Map<string, string>> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ name: string }>(
      `SELECT format('%I', tablename) AS name FROM pg_tables WHERE schemaname = 'public'`,
    );
    const found = new Map<string, string>();
    for (const { name } of rows) {
      const table = await client.query<{ text: string }>(
        `SELECT row_to_json(t)::text AS text FROM ${name} t`,
      );
      found.set(`table ${name}`, table.rows.map(({ text }) => text).join('\n'));
    }
    return found;
  } finally {
    await client.end();
  }
}

const cleanUp: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const undo of cleanUp.splice(0).reverse()) await undo();
});

test('a context token is found nowhere but with the bridge', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'canary-'));
  cleanUp.push(() => rm(folder, { recursive: true, force: true }));
  await chmod(folder, 0o711);
  const dataDir = path.join(folder, 'data');
  const database = await createTestDatabase();
  cleanUp.push(() => database.close());
  const bridge = await startBridgeProcess({ BRIDGE_ALLOW_DEMO: 'true' });
  cleanUp.push(() => bridge.close());
  const recorder = await startTokenRecorder(bridge.url);
  cleanUp.push(() => recorder.close());
  const server = await TestServer.start({
    dataDir,
    databaseUrl: database.url,
    environment: {
      LOG_LEVEL: 'trace',
      HERMES_BRIDGE_MODE: 'external',
      HERMES_BRIDGE_URL: recorder.url,
      HERMES_BRIDGE_CREDENTIAL_REF: 'bridge',
      CREDENTIALS: JSON.stringify({ bridge: { provider: 'hermes', env: 'THE_BRIDGE_SECRET' } }),
      THE_BRIDGE_SECRET: BRIDGE_SECRET,
    },
  });
  cleanUp.push(() => server.stop());

  expect((await server.request('POST', '/admin/v1/workflows', definition)).status).toBe(201);
  const runs = '/api/v1/workflows/canary/runs';
  const created = await server.request('POST', runs, { variables: {}, async: false });
  const stream = await created.text();
  const run = `${runs}/${created.headers.get('X-Run-Id')}`;
  const answers = await Promise.all(
    ['', '/nodes/asks/logs', '/nodes/errs/logs', '/nodes/late/logs', '/stream'].map(async (target) => {
      const answer = await server.request('GET', `${run}${target}`);
      return `${JSON.stringify([...answer.headers])}${await answer.text()}`;
    }),
  );

  const { tokens } = recorder;
  expect(tokens.size).toBe(3);
  // The run has really been through what could leak: questions answered, refused and cut off.
  expect(stream).toContain('get_predecessor_paths');
  expect(stream).toContain('on purpose');
  expect(stream).toContain('event: workflow_complete');

  for (const token of tokens) {
    const headers = { 'X-Context-Token': token };
    for (const body of [{ runId: 'x', nodeId: token }, '{', { runId: token, visitUuid: token }]) {
      for (const target of ['path', 'output', 'meta', 'nothing']) {
        const refused = await send(`${server.url}/internal/context/${target}`, { headers, body });
        // The visits are over: their tokens open nothing any more.
        expect(refused.status).toBe(target === 'nothing' ? 404 : 401);
        answers.push(`${JSON.stringify(refused.headers)}${refused.text}`);
      }
    }
  }

  const places = new Map<string, string | Buffer>([
    ['the stream', stream],
    ['the answers', answers.join('\n')],
    ['the server’s log', server.logs()],
    ['the bridge’s log', bridge.log.join('\n')],
    ...(await dump(database.url)),
    ...(await filesIn(dataDir)),
  ]);
  const placesOf = (text: string): string[] =>
    [...places].filter(([, content]) => content.includes(text)).map(([place]) => place);
  // What is no secret is found, so the search sees what is there.
  const runId = created.headers.get('X-Run-Id') ?? '';
  expect(placesOf(runId)).toEqual(
    expect.arrayContaining(['the stream', 'the answers', 'table visits', 'table run_events']),
  );
  expect(placesOf('"level":"debug"')).toEqual(['the server’s log']);
  expect([...places.keys()].some((place) => place.endsWith('report.md'))).toBe(true);
  expect([...tokens].flatMap(placesOf)).toEqual([]);
});
