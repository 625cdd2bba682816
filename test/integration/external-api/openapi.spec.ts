import { createConfig, lintDocument, makeDocumentFromString, BaseResolver } from '@redocly/openapi-core';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { externalApiControllers } from '../../../src/external-api/external-api-controllers.js';
import { externalApiDocument } from '../../../src/external-api/index.js';
import type { WorkflowDefinition } from '../../../src/workflows/index.js';
import { controllerRoutes } from '../../support/controller-routes.js';
import { ApiApp } from '../../support/external-api/api-app.js';
import { ApiClient, text, type Answer, type Data } from '../../support/external-api/api-client.js';
import { fails, thinks } from '../../support/engine/scripted-runtime.js';
import { createTestDatabase, type TestDatabase } from '../../support/test-database.js';
import { agent, chain, edge, input, node, output } from '../engine/graphs.js';

interface Operation {
  operationId: string;
  responses: Record<string, { content?: Record<string, { schema: unknown }> }>;
}

describe('the OpenAPI document', () => {
  const document = externalApiDocument();
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      route: `${method.toUpperCase()} ${path}`,
      operation: operation as unknown as Operation,
    })),
  );

  it('has no problem under the recommended rules of redocly lint', async () => {
    const config = await createConfig({ extends: ['recommended'] });
    const source = JSON.stringify(document);
    const problems = await lintDocument({
      document: makeDocumentFromString(source, 'openapi.json'),
      config,
      externalRefResolver: new BaseResolver(config.resolve),
    });
    expect(problems.map(({ ruleId, message }) => `${ruleId}: ${message}`)).toEqual([]);
  });

  it('describes every route of the API', () => {
    const routes = controllerRoutes(externalApiControllers).map(({ route }) => route);
    expect(operations.map(({ route }) => route).sort()).toEqual(routes.sort());
    const ids = operations.map(({ operation }) => operation.operationId);
    expect(new Set(ids).size).toBe(ids.length);
  });

  describe('is kept by the answers', () => {
    let database: TestDatabase;
    let api: ApiApp;
    let client: ApiClient;
    let workflow: WorkflowDefinition;
    const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });

    beforeAll(async () => {
      database = await createTestDatabase();
      api = await ApiApp.start(database);
      client = new ApiClient(api.url);
      const ask = node('ask', 'humanInput', { fields: [{ name: 'ok', type: 'boolean' }] });
      workflow = await api.test.workflow(
        chain(
          input({ name: 'topic', type: 'string' }),
          agent('a'),
          ask,
          agent('b'),
          output({ t: '{{ a.text }}' }),
        ),
      );
      ajv.addSchema(document, 'api');
    });
    afterAll(async () => {
      await api.close();
      await database.close();
    });

    const pointer = (...parts: string[]): string =>
      `api#/${parts.map((part) => encodeURIComponent(part.replace(/~/g, '~0').replace(/\//g, '~1'))).join('/')}`;
    const schemaOf = (operationId: string, status: number, type = 'application/json'): ValidateFunction => {
      for (const [path, methods] of Object.entries(document.paths)) {
        for (const [method, operation] of Object.entries(methods)) {
          if (operation.operationId !== operationId) continue;
          const at = ['paths', path, method, 'responses', String(status), 'content', type, 'schema'];
          return ajv.compile({ $ref: pointer(...at) });
        }
      }
      throw new Error(`no operation ${operationId}`);
    };
    const holds = (operationId: string, answer: Answer): Data => {
      const validate = schemaOf(operationId, answer.status);
      validate(JSON.parse(answer.text));
      expect([operationId, validate.errors]).toEqual([operationId, null]);
      return answer.data;
    };

    it('of a run that waits for a person, a run and a time', async () => {
      const ask = node('ask', 'humanInput', { message: 'well?', fields: [{ name: 'ok', type: 'boolean' }] });
      const child = await api.test.workflow(chain(input(), ask, output({ a: 'b' })));
      const waiting = [
        ask,
        node('call', 'subWorkflow', { workflowName: child.name }),
        node('pause', 'delay', { seconds: 600 }),
      ];
      const parent = await api.test.workflow({
        nodes: [input(), ...waiting, output({ a: 'b' })],
        edges: waiting.flatMap(({ id }) => [edge('in', id), edge(id, 'out')]),
      });
      const run = (await client.post(`/workflows/${parent.name}/runs`, {})).data;
      await client.post(text(run.links?.start));
      const result = text(run.links?.result);
      let items: Data[] = [];
      while (items.length < 3)
        items = holds('getRun', await client.call(result)).waiting as unknown as Data[];
      const common = ['fields', 'kind', 'nodeId', 'since', 'visitUuid'];
      const keys = items.map((item) => [item.kind, Object.keys(item).filter((key) => !common.includes(key))]);
      expect(Object.fromEntries(keys)).toEqual({
        person: ['message'],
        child: ['childRunId'],
        time: ['until'],
      });
      const { schemas } = document.components as { schemas: Record<string, unknown> };
      const shown = schemas.WaitingNode as { properties: object; required: string[] };
      expect(Object.keys(shown.properties)).toEqual(
        expect.arrayContaining([...common, 'message', 'childRunId', 'until']),
      );
      expect(shown.required.sort()).toEqual(common);
      await client.post(`${result}/cancel`);
    });

    it('takes the fields of a node with and without their frame', () => {
      const fits = ajv.compile({ $ref: pointer('components', 'schemas', 'NodeInput') });
      expect(
        [{ values: { ok: true } }, { ok: true }, {}, [], { values: 5 }].map((body) => fits(body)),
      ).toEqual([true, true, true, false, false]);
    });

    it('of a whole run, and of errors', async () => {
      api.test.runtime.on('b', () => [thinks('hm'), fails('坏了')]);
      const runs = `/workflows/${workflow.name}/runs`;
      holds('listWorkflows', await client.call('/workflows'));
      holds('getWorkflow', await client.call(`/workflows/${workflow.name}`));
      const run = holds('createRun', await client.post(runs, { variables: { topic: 'x' } }));
      const result = text(run.links?.result);
      holds('getRun', await client.call(result));
      holds('startRun', await client.post(text(run.links?.start)));
      await client.stream(text(run.links?.stream), {
        until: ({ data }) => (data.status as unknown) === 'WAITING',
      });
      holds('getRun', await client.call(result));
      holds('answerNode', await client.post(`${result}/nodes/ask/input`, { values: { ok: true } }));
      const { events } = await client.stream(text(run.links?.stream));
      const event = schemaOf('streamRun', 200, 'text/event-stream');
      for (const { data } of events) expect([event(data), event.errors]).toEqual([true, null]);
      holds('getRun', await client.call(result));
      holds('getNodeLogs', await client.call(`${result}/nodes/b/logs`));
      holds('listRuns', await client.call(`${runs}?limit=1`));
      holds('rerunRun', await client.post(`${result}/rerun`, { fromNodeId: 'b' }));
      holds(
        'cancelRun',
        await client.post(`${text((await client.post(runs, {})).data.links?.result)}/cancel`),
      );
      holds('startRun', await client.post(text(run.links?.start)));
      holds('getRun', await client.call(`${runs}/missing`));
      holds('getWorkflow', await client.call('/workflows/missing', { key: 'wrong' }));
      holds('createRun', await client.post(runs, { ttlHours: 0 }));
    });
  });
});
