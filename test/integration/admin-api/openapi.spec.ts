import { BaseResolver, createConfig, lintDocument, makeDocumentFromString } from '@redocly/openapi-core';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { z } from 'zod';
import { adminApiControllers, adminApiDocument } from '../../../src/admin-api/index.js';
import { OPERATION, type OperationDescription } from '../../../src/common/openapi/operation.js';
import { NODE_TYPES } from '../../../src/workflows/index.js';
import { controllerRoutes } from '../../support/controller-routes.js';
import { AdminClient, type AdminAnswer } from '../../support/admin-client.js';
import { startInProcessServer, type InProcessServer } from '../../support/in-process-server.js';

interface Route {
  route: string;
  operation: OperationDescription;
}

function routes(): Route[] {
  return controllerRoutes(adminApiControllers).map(({ route, handler }) => ({
    route,
    operation: Reflect.getMetadata(OPERATION, handler) as OperationDescription,
  }));
}

describe('the OpenAPI document of the admin API', () => {
  const document = adminApiDocument();
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      route: `${method.toUpperCase()} ${path}`,
      operation: operation as { operationId: string; description: string },
    })),
  );

  it('has no problem under the recommended rules of redocly lint', async () => {
    const config = await createConfig({ extends: ['recommended'] });
    const problems = await lintDocument({
      document: makeDocumentFromString(JSON.stringify(document), 'admin-openapi.json'),
      config,
      externalRefResolver: new BaseResolver(config.resolve),
    });
    expect(problems.map(({ ruleId, message }) => `${ruleId}: ${message}`)).toEqual([]);
  });

  it('describes every route of the API', () => {
    expect(operations.map(({ route }) => route).sort()).toEqual(
      routes()
        .map(({ route }) => route)
        .sort(),
    );
    const ids = operations.map(({ operation }) => operation.operationId);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('says which roles a route is for', () => {
    const roles = (route: string) =>
      operations.find((one) => one.route === route)?.operation.description.match(/Roles: .*$/)?.[0];
    expect(roles('POST /admin/v1/workflows')).toBe('Roles: `editor`, `admin`.');
    expect(roles('GET /admin/v1/usage')).toBe('Roles: `auditor`, `admin`.');
    expect(roles('DELETE /admin/v1/api-keys/{id}')).toBe('Roles: `admin`.');
  });

  it('knows the data of every type of node', () => {
    const { schemas } = (document as unknown as { components: { schemas: Record<string, unknown> } })
      .components;
    const components = NODE_TYPES.map((type) => `${type.charAt(0).toUpperCase()}${type.slice(1)}Node`);
    expect(Object.keys(schemas)).toEqual(expect.arrayContaining([...components, 'AgentConfig', 'Error']));
  });

  describe('is kept by the answers', () => {
    let server: InProcessServer;
    let admin: AdminClient;
    const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
    const held = new Set<string>();

    beforeAll(async () => {
      server = await startInProcessServer({
        CREDENTIALS:
          '{"gateway": {"provider": "new-api", "env": "NO_SUCH_KEY", "baseUrl": "http://127.0.0.1:9/v1"}}',
      });
      admin = new AdminClient(server.url, 'demo-admin-key');
      ajv.addSchema(document, 'api');
    });
    afterAll(() => server.close());

    /** Calls the operation, holds the answer against its schemas, and gives its data. */
    const call = async (
      operationId: string,
      path: string,
      body?: unknown,
    ): Promise<Record<string, unknown>> => {
      const found = routes().find(({ operation }) => operation.operationId === operationId);
      const documented = operations.find(({ operation }) => operation.operationId === operationId);
      if (!found || !documented) throw new Error(`no operation ${operationId}`);
      const [method = '', route = ''] = found.route.split(' ');
      const answer: AdminAnswer = await admin.call(method, path, body);
      const { status, ...envelope } = answer;
      const at = ['paths', route, method.toLowerCase(), 'responses', String(status), 'content'];
      const pointer = [...at, 'application/json', 'schema'].map((part) =>
        encodeURIComponent(part.replace(/~/g, '~0').replace(/\//g, '~1')),
      );
      const validate = ajv.compile({ $ref: `api#/${pointer.join('/')}` });
      validate(envelope);
      expect([operationId, answer.message, validate.errors]).toEqual([operationId, answer.message, null]);
      // The document lets answers grow; what they hold today has to be in it.
      const data = found.operation.answers[status]?.data;
      if (data) {
        const parsed = data.safeParse(answer.data);
        expect([operationId, parsed.error && z.prettifyError(parsed.error)]).toEqual([
          operationId,
          undefined,
        ]);
        held.add(operationId);
      }
      return answer.data;
    };

    it('of every operation, and by errors', async () => {
      const graphData = {
        nodes: [
          { id: 'in', type: 'userInput', data: { fields: [{ name: 'topic', type: 'string' }] } },
          { id: 'wait', type: 'delay', data: { seconds: 0 } },
          { id: 'out', type: 'output', data: { fields: [{ name: 't', value: '{{ in.topic }}' }] } },
        ],
        edges: [
          { id: 'e1', source: 'in', target: 'wait' },
          { id: 'e2', source: 'wait', target: 'out' },
        ],
      };
      const definition = { mode: 'DAG', graphData, settings: { concurrency: 2 } };
      await call('createWorkflow', '/workflows', { name: 'flow', ...definition });
      await call('createWorkflow', '/workflows', { name: 'flow', ...definition });
      await call('createWorkflow', '/workflows', { name: 'bad', ...definition, graphData: {} });
      await call('listWorkflows', '/workflows?limit=1');
      await call('getWorkflow', '/workflows/flow');
      await call('getWorkflow', '/workflows/missing');
      await call('updateWorkflow', '/workflows/flow', { ...definition, mode: 'AGENTIC' });
      await call('validateWorkflow', '/workflows/validate', definition);
      await call('validateWorkflow', '/workflows/validate', {
        mode: 'DAG',
        graphData: { nodes: [], edges: [] },
      });
      await call('listWorkflowVersions', '/workflows/flow/versions');
      await call('getWorkflowVersion', '/workflows/flow/versions/1');
      const exported = await call('exportWorkflow', '/workflows/flow/export');
      await call('importWorkflow', '/workflows/import?name=copy', exported);
      await call('importWorkflow', '/workflows/import?name=copy&overwrite=true', exported);

      await runOnce('flow');
      const { items } = (await call('listRuns', '/runs?workflow=flow')) as { items: { runId: string }[] };
      await call('getRun', `/runs/${items[0]?.runId ?? ''}`);
      await call('getRun', '/runs/missing');

      const key = await call('createApiKey', '/api-keys', { name: 'ci', workflowNames: ['flow'] });
      await call('listApiKeys', '/api-keys');
      await call('revokeApiKey', `/api-keys/${String(key.id)}`);
      await call('revokeApiKey', `/api-keys/${String(key.id)}`);

      await call('createAgent', '/agents', { agentKey: 'writer' });
      await call('createAgent', '/agents', { agentKey: 'writer' });
      const hermes = { runtimeProvider: 'hermes', hermes: { model: 'demo' } };
      await call('createAgentVersion', '/agents/writer/versions', { config: hermes });
      await call('createAgentVersion', '/agents/writer/versions', { config: { runtimeProvider: 'dify' } });
      await call('publishAgentVersion', '/agents/writer/versions/1/publish', { reason: 'first' });
      await call('publishAgentVersion', '/agents/writer/versions/1/publish', { reason: 'again' });
      await call('copyAgentVersion', '/agents/writer/versions/1/copy', {
        config: { instructions: 'Be brief' },
      });
      await call('switchAgentVersion', '/agents/writer/current', { version: 1 });
      await call('listAgentVersions', '/agents/writer/versions');
      await call('getAgentVersion', '/agents/writer/versions/2');
      await call('getAgentVersion', '/agents/writer/versions/9');
      await call('getConsoleLink', '/agents/writer/versions/1/console-link');
      // No bridge listens: a failure, which is an answer too.
      const invocation = { commandId: 'c-1', scenario: 'rewrite', instruction: 'Write', context: [] };
      expect(await call('invokeAgent', '/agents/writer/invocations', invocation)).toMatchObject({
        failure: { type: expect.any(String) as string },
      });
      await call('listAgents', '/agents');
      await call('getAgent', '/agents/writer');
      await call('bindSlot', '/slots/main', { agentKey: 'writer' });
      await call('listSlots', '/slots');
      await call('archiveAgent', '/agents/writer');
      await call('createAgent', '/agents', { agentKey: 'other' });
      await call('archiveAgent', '/agents/other');

      await call('listRuntimeCalls', '/runtime-calls');
      await call('getRuntimeCall', '/runtime-calls/c-1');
      await call('getRuntimeCall', '/runtime-calls/missing');
      await call('getUsage', '/usage?groupBy=day,agent,provider');
      await call('listCredentials', '/credentials');
      await call('listAuditLogs', '/audit-logs');
      await call('verifyAuditLogs', '/audit-logs/verify');
      await call('deleteWorkflow', '/workflows/copy');

      const all = operations.map(({ operation }) => operation.operationId);
      // Only a Dify credential has console links; test/e2e/admin-api/agents.spec.ts asks for them.
      expect(all.filter((operationId) => !held.has(operationId))).toEqual(['getConsoleLink']);
    });

    async function runOnce(workflowName: string): Promise<void> {
      const answer = await fetch(`${server.url}/api/v1/workflows/${workflowName}/runs`, {
        method: 'POST',
        headers: { 'X-API-Key': 'demo-key', 'Content-Type': 'application/json' },
        body: JSON.stringify({ variables: { topic: '量' }, async: false }),
      });
      // The stream ends with the run.
      expect(await answer.text()).toContain('event: workflow_complete');
    }
  });
});
