import { externalApiDocument } from '../../../src/external-api/index.js';
import { ApiApp } from '../../support/external-api/api-app.js';
import { says, thinks } from '../../support/engine/scripted-runtime.js';
import { GeneratedClient } from '../../support/openapi/generated-client.js';
import { createTestDatabase, type TestDatabase } from '../../support/test-database.js';
import { agent, chain, input, output } from '../engine/graphs.js';

/** What an integrator writes against the generated client; compiled under strict rules, then run. */
const PROGRAM = `
import { createRun, downloadWorkspace, getNodeLogs, getRun, listRuns, listWorkflows, startRun, streamRun } from './client/sdk.gen.js';
import { client } from './client/client.gen.js';
import { formDataBodySerializer } from './client/core/bodySerializer.gen.js';
import type { RunResult, RunUpload, StreamEvent } from './client/types.gen.js';

const [baseUrl, workflowName] = process.argv.slice(2) as [string, string];
client.setConfig({ baseUrl, headers: { 'X-API-Key': 'demo-key' }, throwOnError: true });

const workflows = await listWorkflows({ throwOnError: true });
const names: string[] = workflows.data.data.map((workflow) => workflow.name);

const plain = await createRun({
  path: { workflowName },
  body: { variables: { topic: '量子' }, failStrategy: 'abort', ttlHours: 24 },
  throwOnError: true,
});
if (typeof plain.data === 'string') throw new Error('a stream?');
const createdAt: string = plain.data.data.createdAt;

const upload: RunUpload = {
  payload: JSON.stringify({ variables: { topic: '量子' } }),
  files: [new File(['# 资料'], '资料.md')],
};
const created = await createRun({
  path: { workflowName },
  ...formDataBodySerializer,
  body: upload as never,
  headers: { 'Content-Type': null } as never,
  throwOnError: true,
});
if (typeof created.data === 'string') throw new Error('a stream?');
const { runId } = created.data.data;
const at = { path: { workflowName, runId }, throwOnError: true as const };
await startRun(at);

const events: StreamEvent[] = [];
const { stream } = await streamRun(at);
for await (const event of stream) events.push(event as StreamEvent);

const result: RunResult = (await getRun(at)).data.data;
const agent = result.nodes.find((node) => node.nodeType === 'agent');
const logs = await getNodeLogs({ ...at, path: { ...at.path, nodeId: agent?.nodeId ?? '' } });
const list = await listRuns({ path: { workflowName }, query: { status: 'SUCCESS', limit: 1 }, throwOnError: true });
const zip = await downloadWorkspace({ ...at, parseAs: 'arrayBuffer' });
const missing = await getRun({ path: { workflowName, runId: 'missing' }, throwOnError: false });

console.log(JSON.stringify({
  names,
  createdAt,
  types: events.map((event) => event.type),
  thought: events.flatMap((event) => (event.type === 'node_stream' && event.kind === 'thinking' ? [event.content] : [])),
  status: result.status,
  outputs: result.outputs,
  logs: logs.data.data.items.map((entry) => entry.type),
  listed: list.data.data.items.map((item) => item.runId === runId),
  zip: (zip.data as unknown as ArrayBuffer).byteLength > 0,
  missing: missing.error?.code,
}));
`;

describe('a client generated from the OpenAPI document', () => {
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

  it('compiles under strict rules and runs a workflow', async () => {
    api.test.runtime.on('a', () => [thinks('想一想'), says('好')]);
    const workflow = await api.test.workflow(
      chain(input({ name: 'topic', type: 'string' }), agent('a'), output({ text: '{{ a.text }}' })),
    );
    const client = await GeneratedClient.build(externalApiDocument(), PROGRAM);
    try {
      expect(await client.run(api.url, workflow.name)).toEqual({
        names: [workflow.name],
        createdAt: expect.stringMatching(/Z$/) as string,
        types: expect.arrayContaining(['run_started', 'node_status', 'workflow_complete']) as string[],
        thought: ['想一想'],
        status: 'SUCCESS',
        outputs: expect.objectContaining({ text: '好', _workingDirFiles: ['资料.md'] }) as object,
        logs: ['THINKING'],
        listed: [true],
        zip: true,
        missing: 'RUN_NOT_FOUND',
      });
      expect(await client.source('sdk.gen.ts')).toContain('Create a run');
    } finally {
      await client.remove();
    }
  }, 120_000);
});
