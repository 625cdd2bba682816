import { randomBytes } from 'node:crypto';
import type { GraphData } from '../../../src/workflows/graph/graph-data.js';
import {
  hasPython,
  startPythonBridge,
  type PythonBridge,
} from '../../support/context-query/python-bridge.js';
import { createTestDatabase, type TestDatabase } from '../../support/test-database.js';
import { TestServer } from '../../support/test-server.js';

/** What an agent of the Python bridge tells of what it was told. */
interface Told {
  tools: string[];
  instructions: string;
  path: { visitUuids: string[]; nodeIds: string[]; paths: object[]; backtrackEdgeKeys: string[] };
  outputs: Record<string, { data: Record<string, unknown> }>;
  metas: Record<
    string,
    { thinking: string; toolCalls: { tool: string }[]; todoList: object[]; logs: object[] }
  >;
}

const secret = randomBytes(16).toString('hex');
let database: TestDatabase;
let bridge: PythonBridge;

const agent = (id: string): GraphData['nodes'][number] => ({
  id,
  type: 'agent',
  data: { label: id, model: 'any', prompt: 'Ask.' },
});
const input = (id: string): GraphData['nodes'][number] => ({ id, type: 'userInput', data: { fields: [] } });
const edge = (source: string, target: string): GraphData['edges'][number] => ({
  id: `${source}-${target}`,
  source,
  target,
  sourceHandle: null,
});

async function withServer(
  environment: Record<string, string>,
  use: (server: TestServer) => Promise<void>,
): Promise<void> {
  const server = await TestServer.start({
    databaseUrl: database.url,
    environment: {
      HERMES_BRIDGE_MODE: 'external',
      HERMES_BRIDGE_URL: bridge.url,
      HERMES_BRIDGE_CREDENTIAL_REF: 'python-bridge',
      CREDENTIALS: JSON.stringify({ 'python-bridge': { provider: 'hermes', env: 'PYTHON_BRIDGE_SECRET' } }),
      PYTHON_BRIDGE_SECRET: secret,
      ...environment,
    },
  });
  try {
    await use(server);
  } finally {
    await server.stop();
  }
}

/** Runs a workflow to its end; gives what the node `out` made of the run. */
async function toldBy(
  server: TestServer,
  definition: Record<string, unknown> & { name: string },
): Promise<Told> {
  const saved = await server.request('POST', '/admin/v1/workflows', {
    displayName: definition.name,
    description: '',
    settings: {},
    ...definition,
  });
  expect([saved.status, await saved.text()]).toEqual([201, expect.any(String)]);
  const runs = `/api/v1/workflows/${definition.name}/runs`;
  const created = await server.request('POST', runs, { variables: {}, async: false });
  const stream = await created.text();
  expect(stream).toContain('event: workflow_complete');
  const result = await server.request('GET', `${runs}/${created.headers.get('X-Run-Id')}`);
  const { data } = (await result.json()) as { data: { outputs: { told: Told } } };
  return data.outputs.told;
}

const diamond = (name: string) => ({
  name,
  mode: 'DAG',
  graphData: {
    nodes: [
      input('in'),
      agent('left'),
      agent('right'),
      agent('join'),
      { id: 'out', type: 'output', data: { fields: [{ name: 'told', value: '{{ join.told }}' }] } },
    ],
    edges: [
      edge('in', 'left'),
      edge('in', 'right'),
      edge('left', 'join'),
      edge('right', 'join'),
      edge('join', 'out'),
    ],
  },
});

const suite = hasPython() ? describe : describe.skip;

suite('a Python hermes_bridge (skipped where python3 is not installed)', () => {
  beforeAll(async () => {
    database = await createTestDatabase();
    bridge = await startPythonBridge(secret);
  });
  afterAll(async () => {
    await bridge.stop();
    await database.close();
  });

  test('plugs in, and its agents are answered about a diamond', async () => {
    await withServer({}, async (server) => {
      const told = await toldBy(server, diamond('python-diamond'));
      expect(told.tools).toEqual(['get_node_meta', 'get_node_output', 'get_predecessor_paths']);
      for (const name of [...told.tools, 'left', 'right']) expect(told.instructions).toContain(name);
      expect(told.path.nodeIds).toEqual(['in', 'left', 'right', 'join']);
      expect(told.path.paths).toMatchObject([
        { sequence: ['in', 'left', 'join'], hasBacktrack: false },
        { sequence: ['in', 'right', 'join'], hasBacktrack: false },
      ]);
      expect(told.outputs.left).toMatchObject({
        nodeId: 'left',
        iterSeq: 1,
        status: 200,
        message: '调用成功',
        data: { text: 'left has asked' },
        requestedField: null,
      });
      expect(told.outputs.in).toMatchObject({ data: {} });
      expect(told.metas.right).toMatchObject({
        thinking: '第一步 right',
        todoList: [{ text: 'right', status: 'completed' }],
      });
      expect(told.metas.right?.toolCalls[0]).toEqual({ tool: 'get_predecessor_paths', args: '{}' });
      expect(told.metas.in).toMatchObject({ thinking: '', toolCalls: [], todoList: [], logs: [] });
      expect(bridge.errors()).toBe('');
    });
  });

  test('asked after a flight back it answers as the spec’s second example', async () => {
    await withServer({}, async (server) => {
      const told = await toldBy(server, {
        name: 'python-flight-back',
        mode: 'AGENTIC',
        settings: {
          goal: '@plan B\n@plan C,G\n@plan C\n@plan out',
          planner: { type: 'llm', model: 'any', scope: 'graph' },
        },
        graphData: {
          nodes: [
            input('A'),
            agent('B'),
            agent('C'),
            agent('G'),
            { id: 'out', type: 'output', data: { fields: [{ name: 'told', value: '{{ C.told }}' }] } },
          ],
          edges: [edge('A', 'B'), edge('B', 'C'), edge('B', 'G'), edge('G', 'C'), edge('C', 'out')],
        },
      });
      const { visitUuids } = told.path;
      expect(told.path).toEqual({
        visitUuids: [expect.any(String), expect.any(String), expect.any(String), expect.any(String)],
        nodeIds: ['A', 'B', 'G', 'C'],
        paths: [{ sequence: ['A', 'B', 'G', 'C'], visitUuids, hasBacktrack: true }],
        backtrackEdgeKeys: ['G->C'],
      });
    });
  });

  test('with context queries off knows of none, and its runs go on', async () => {
    await withServer({ HERMES_CONTEXT_QUERY_ENABLED: 'false' }, async (server) => {
      const told = await toldBy(server, diamond('python-degraded'));
      expect(told.tools).toEqual([]);
      expect(told.instructions).not.toMatch(/get_|predecessor|context/i);
      const refused = await server.request('POST', '/internal/context/path', {});
      expect([refused.status, await refused.json()]).toEqual([
        503,
        { code: 503, message: 'context queries are disabled', data: null },
      ]);
    });
  });
});
