import net from 'node:net';
import type { WorkflowDefinition } from '../../../src/workflows/index.js';
import { ApiApp } from '../../support/external-api/api-app.js';
import { ApiClient, text } from '../../support/external-api/api-client.js';
import { createTestDatabase, type TestDatabase } from '../../support/test-database.js';
import { chain, input, output } from '../engine/graphs.js';

const json = { 'content-type': 'application/json' };

describe('errors', () => {
  let database: TestDatabase;
  let api: ApiApp;
  let client: ApiClient;
  let workflow: WorkflowDefinition;
  let runs: string;
  let runId: string;

  beforeAll(async () => {
    database = await createTestDatabase();
    api = await ApiApp.start(database, {
      env: { HTTP_BODY_LIMIT: '20kb', EXTERNAL_API_LIMITS_VARIABLE_BYTES: '10kb' },
    });
    client = new ApiClient(api.url);
    workflow = await api.test.workflow(chain(input(), output({ a: 'b' })));
    runs = `/workflows/${workflow.name}/runs`;
    runId = text((await client.post(runs, {})).data.runId);
  });
  afterAll(async () => {
    await api.close();
    await database.close();
  });

  it.each<[string, string, number, string]>([
    ['GET', '/nothing', 404, 'NOT_FOUND'],
    ['GET', '/workflows/x/y/z', 404, 'NOT_FOUND'],
    ['DELETE', '/workflows', 405, 'METHOD_NOT_ALLOWED'],
    ['PUT', '/workflows/x/runs', 405, 'METHOD_NOT_ALLOWED'],
    ['GET', '/workflows/x/runs/y/start', 405, 'METHOD_NOT_ALLOWED'],
    ['GET', '/workflows/%00', 404, 'WORKFLOW_NOT_FOUND'],
    ['GET', '/workflows/%E0%A4%A', 400, 'VALIDATION_FAILED'],
    ['GET', '/workflows/..%2f..%2fetc', 404, 'WORKFLOW_NOT_FOUND'],
    ['GET', `/workflows/${'9'.repeat(30)}`, 404, 'WORKFLOW_NOT_FOUND'],
    ['GET', `/workflows/${'a'.repeat(3000)}`, 404, 'WORKFLOW_NOT_FOUND'],
    ['POST', '/workflows/missing/runs', 404, 'WORKFLOW_NOT_FOUND'],
  ])('%s %s answers %i %s', async (method, path, status, code) => {
    const answer = await client.call(path, { method });
    expect([answer.status, answer.code, answer.data]).toEqual([status, code, null]);
    expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
    expect(answer.message).not.toBe('');
  });

  it.each(['missing', '%00', '..', 'A', 'a'.repeat(100), '%F0%9F%98%80'])('knows no run %s', async (id) => {
    for (const [method, rest] of [
      ['GET', ''],
      ['GET', '/stream'],
      ['GET', '/workspace'],
      ['GET', '/nodes/in/logs'],
      ['POST', '/start'],
      ['POST', '/cancel'],
      ['POST', '/rerun'],
      ['POST', '/nodes/in/input'],
    ] as const) {
      // fetch would resolve the dots itself.
      if (id === '..') continue;
      const body = method === 'POST' ? {} : undefined;
      const answer = await client.call(`${runs}/${id}${rest}`, { method, body });
      expect([rest, answer.status, answer.code]).toEqual([rest, 404, 'RUN_NOT_FOUND']);
    }
  });

  it.each<[string, number, string]>([
    ['nodes/missing/logs', 404, 'NODE_NOT_FOUND'],
    ['nodes/%00/logs', 404, 'NODE_NOT_FOUND'],
    ['nodes/in/logs?type=DEBUG', 400, 'VALIDATION_FAILED'],
    ['nodes/in/logs?visit=1', 400, 'VALIDATION_FAILED'],
    ['nodes/in/logs?after=-1', 400, 'VALIDATION_FAILED'],
    ['nodes/in/logs?after=99999999999', 400, 'VALIDATION_FAILED'],
    ['nodes/in/logs?limit=0', 400, 'VALIDATION_FAILED'],
    ['nodes/in/logs?limit=10001', 400, 'VALIDATION_FAILED'],
    ['nodes/in/logs?limit=1&limit=2', 400, 'VALIDATION_FAILED'],
    ['stream?lastEventId=1&lastEventId=2', 400, 'VALIDATION_FAILED'],
    ['stream?lastEventId=', 400, 'VALIDATION_FAILED'],
  ])('GET %s answers %i %s', async (path, status, code) => {
    const answer = await client.call(`${runs}/${runId}/${path}`);
    expect([answer.status, answer.code]).toEqual([status, code]);
  });

  it.each<[string, string, Record<string, string>, number, string]>([
    ['broken JSON', '{"variables":', json, 400, 'VALIDATION_FAILED'],
    ['an array', '[]', json, 400, 'VALIDATION_FAILED'],
    ['a number', '5', json, 400, 'VALIDATION_FAILED'],
    ['deep JSON', `{"variables":{"a":${'['.repeat(100)}${']'.repeat(100)}}}`, json, 400, 'VALIDATION_FAILED'],
    ['__proto__', '{"variables":{"__proto__":{"a":1}}}', json, 400, 'VALIDATION_FAILED'],
    ['an escaped __proto__', '{"\\u005f_proto__":{"async":false}}', json, 400, 'VALIDATION_FAILED'],
    ['a big integer', '{"variables":{"n":1234567890123456789}}', json, 400, 'VALIDATION_FAILED'],
    ['a number beyond a double', '{"variables":{"n":1e999}}', json, 400, 'VALIDATION_FAILED'],
    ['a body over the limit', `{"variables":{"a":"${'x'.repeat(30_000)}"}}`, json, 413, 'PAYLOAD_TOO_LARGE'],
    ['large variables', `{"variables":{"a":"${'x'.repeat(11_000)}"}}`, json, 413, 'PAYLOAD_TOO_LARGE'],
    ['text', 'hello', { 'content-type': 'text/plain' }, 415, 'UNSUPPORTED_MEDIA_TYPE'],
    ['a form', 'a=b', { 'content-type': 'application/x-www-form-urlencoded' }, 415, 'UNSUPPORTED_MEDIA_TYPE'],
    ['XML', '<a/>', { 'content-type': 'application/xml' }, 415, 'UNSUPPORTED_MEDIA_TYPE'],
    [
      'another charset',
      '{}',
      { 'content-type': 'application/json; charset=gbk' },
      415,
      'UNSUPPORTED_MEDIA_TYPE',
    ],
    ['an unknown encoding', '{}', { ...json, 'content-encoding': 'zstd' }, 415, 'UNSUPPORTED_MEDIA_TYPE'],
  ])('refuses %s', async (_, body, headers, status, code) => {
    const answer = await client.call(runs, { method: 'POST', body, headers });
    expect([answer.status, answer.code, answer.data]).toEqual([status, code, null]);
  });

  it('says how large a body may be, and of what kinds', async () => {
    const large = await client.post(runs, { variables: { a: 'x'.repeat(20_480) } });
    expect(large.text).toContain('"the request exceeds the limit http.body-limit (20480 bytes)"');
    const plain = { method: 'POST', body: 'hello', headers: { 'content-type': 'text/plain' } };
    const creation = await client.call(runs, plain);
    expect(creation.text).toContain('the body must be application/json or multipart/form-data');
    const rerun = await client.call(`${runs}/${runId}/rerun`, plain);
    expect(rerun.text).toContain('"the body must be application/json"');
  });

  it('never repeats the request in an error about its JSON', async () => {
    const answer = await client.call(runs, { method: 'POST', body: '{"token":"hunter2",}', headers: json });
    expect([answer.status, answer.text.includes('hunter2')]).toEqual([400, false]);
  });

  it('does not pollute prototypes with constructor keys', async () => {
    const body = '{"variables":{"constructor":{"prototype":{"polluted":1}}}}';
    const answer = await client.call(runs, { method: 'POST', body, headers: json });
    expect([201, 400]).toContain(answer.status);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  const raw = (bytes: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const socket = net.connect(Number(new URL(api.url).port), '127.0.0.1', () => socket.write(bytes));
      let received = '';
      socket.on('data', (chunk) => (received += chunk.toString()));
      socket.on('close', () => resolve(received));
      socket.on('error', reject);
    });

  it('answers oversized headers and no HTTP at all with the envelope', async () => {
    const large = await raw(
      `GET /api/v1/workflows HTTP/1.1\r\nHost: x\r\nX-Large: ${'x'.repeat(20_000)}\r\n\r\n`,
    );
    expect(large).toMatch(/^HTTP\/1\.1 431 /);
    expect(large).toContain('"code":"VALIDATION_FAILED"');
    const nonsense = await raw('NONSENSE\r\n\r\n');
    expect(nonsense).toMatch(/^HTTP\/1\.1 400 /);
    expect(nonsense).toContain('"code":"VALIDATION_FAILED"');
  });

  it('tells nothing internal when something breaks', async () => {
    const { events } = { events: api.test.store };
    const broken = events.countLogs.bind(events);
    events.countLogs = () => Promise.reject(new Error('secret table run_events'));
    const answer = await client.call(`${runs}/${runId}`);
    events.countLogs = broken;
    expect([answer.status, answer.code, answer.data]).toEqual([500, 'INTERNAL_ERROR', null]);
    expect(answer.message).toContain(String(answer.headers.get('x-request-id')));
    expect(answer.text).not.toContain('run_events');
  });
});
