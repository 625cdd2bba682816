import { adminApiDocument } from '../../../src/admin-api/index.js';
import { startInProcessServer, type InProcessServer } from '../../support/in-process-server.js';
import { GeneratedClient } from '../../support/openapi/generated-client.js';

/** What an operator's tool writes against the generated client; compiled under strict rules, then run. */
const PROGRAM = `
import {
  createAgent, createAgentVersion, createWorkflow, exportWorkflow, getAgent, importWorkflow, listWorkflows,
  publishAgentVersion, validateWorkflow,
} from './client/sdk.gen.js';
import { client } from './client/client.gen.js';
import type { AgentConfig, GraphData } from './client/types.gen.js';

const [baseUrl] = process.argv.slice(2) as [string];
client.setConfig({ baseUrl, headers: { 'X-Admin-Key': 'demo-admin-key' } });
const throwOnError = true as const;

const graphData: GraphData = {
  nodes: [
    { id: 'in', type: 'userInput', data: { fields: [{ name: 'topic', type: 'string', required: true }] } },
    { id: 'a', type: 'agent', data: { model: 'demo', prompt: 'Research {{ in.topic }}', retry: { maxAttempts: 2 } } },
    { id: 'out', type: 'output', data: { fields: [{ name: 'text', value: '{{ a.text }}' }] } },
  ],
  edges: [{ id: 'e1', source: 'in', target: 'a' }, { id: 'e2', source: 'a', target: 'out' }],
};
// @ts-expect-error an agent has no such key
const wrong: GraphData = { nodes: [{ id: 'a', type: 'agent', data: { prompt: 'x', promt: 'y' } }], edges: [] };

const verdict = await validateWorkflow({ body: { mode: 'DAG', graphData: wrong }, throwOnError });
const created = await createWorkflow({ body: { name: 'flow', mode: 'DAG', graphData }, throwOnError });
const again = await createWorkflow({ body: { name: 'flow', mode: 'DAG', graphData } });
const document = (await exportWorkflow({ path: { nameOrId: 'flow' }, throwOnError })).data.data;
const imported = await importWorkflow({ body: document, query: { name: 'copy', overwrite: 'true' }, throwOnError });
const page = (await listWorkflows({ query: { limit: 10 }, throwOnError })).data.data;

const config: AgentConfig = { runtimeProvider: 'hermes', hermes: { model: 'demo' } };
await createAgent({ body: { agentKey: 'writer' }, throwOnError });
const draft = (await createAgentVersion({ path: { agentKey: 'writer' }, body: { config }, throwOnError })).data.data;
const { version } = draft;
await publishAgentVersion({ path: { agentKey: 'writer', version }, body: { reason: 'first' }, throwOnError });
const agent = (await getAgent({ path: { agentKey: 'writer' }, throwOnError })).data.data;

console.log(JSON.stringify({
  problems: verdict.data.data.problems.map((problem) => problem.code),
  version: created.data.data.version,
  again: again.error?.code,
  imported: imported.data.data.name,
  names: page.items.map((workflow) => workflow.name),
  current: agent.currentVersion,
}));
`;

describe('a client generated from the OpenAPI document of the admin API', () => {
  let server: InProcessServer;
  beforeAll(async () => {
    server = await startInProcessServer();
  });
  afterAll(() => server.close());

  it('compiles under strict rules and installs a workflow and an agent', async () => {
    const client = await GeneratedClient.build(adminApiDocument(), PROGRAM);
    try {
      expect(await client.run(server.url)).toEqual({
        problems: expect.arrayContaining(['INVALID_NODE_DATA', 'MISSING_OUTPUT']) as string[],
        version: 1,
        again: 'WORKFLOW_EXISTS',
        imported: 'copy',
        names: ['copy', 'flow'],
        current: 1,
      });
    } finally {
      await client.remove();
    }
  }, 120_000);
});
