import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { TestServer } from '../support/test-server.js';

const RUNS = '/api/v1/workflows/no-such/runs';
const VALIDATE = '/admin/v1/workflows/validate';

/** Bytes over a plain socket, for what no client library would send; the whole answer. */
function raw(url: string, bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const socket = connect(Number(new URL(url).port), '127.0.0.1', () => socket.write(bytes));
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.on('error', reject);
    socket.on('close', () => resolve(Buffer.concat(chunks).toString()));
  });
}

describe('every HTTP API', () => {
  let database: TestDatabase;
  let server: TestServer;
  beforeAll(async () => {
    database = await createTestDatabase();
    const environment = { HTTP_BODY_LIMIT: '64kb', HTTP_MAX_JSON_DEPTH: '20' };
    server = await TestServer.start({ databaseUrl: database.url, environment });
  });
  afterAll(async () => {
    await server.stop();
    await database.close();
  });

  const send = (
    method: string,
    target: string,
    body?: string | Buffer,
    headers: Record<string, string> = {},
  ): Promise<Response> =>
    fetch(`${server.url}${target}`, {
      method,
      body: typeof body === 'string' || body === undefined ? body : new Uint8Array(body),
      headers: {
        'X-Admin-Key': 'demo-admin-key',
        'X-API-Key': 'demo-key',
        'Content-Type': 'application/json',
        ...headers,
      },
    });
  const refusal = async (answer: Response): Promise<unknown[]> => {
    const body = (await answer.json()) as { code: string; message: string; data: unknown };
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(body.data).toBeNull();
    return [answer.status, body.code, body.message];
  };

  it('answers an unknown route in the envelope', async () => {
    for (const target of [
      '/',
      '/nope',
      '/api/v1/nope',
      '/admin/v1/nope',
      '/health',
      '/api/v1/workflows/a/b/c',
    ]) {
      expect(await refusal(await send('GET', target))).toEqual([404, 'NOT_FOUND', 'there is no such route']);
    }
  });

  it('names the methods that a route takes', async () => {
    for (const [method, target, allowed] of [
      ['DELETE', '/api/v1/workflows', 'GET, HEAD'],
      ['PUT', RUNS, 'GET, HEAD, POST'],
      ['OPTIONS', '/health/live', 'GET, HEAD'],
    ] as const) {
      const answer = await send(method, target);
      expect(answer.headers.get('allow')).toBe(allowed);
      expect(await refusal(answer)).toEqual([405, 'METHOD_NOT_ALLOWED', `this route takes ${allowed}`]);
    }
  });

  it('refuses a path whose percent-encoding is broken', async () => {
    expect((await refusal(await send('GET', '/api/v1/workflows/%E0%A4%A'))).slice(0, 2)).toEqual([
      400,
      'VALIDATION_FAILED',
    ]);
  });

  it.each([
    ['broken JSON', '{"mode":', 400, 'VALIDATION_FAILED', /not valid JSON/],
    [
      'a number that would be rounded',
      '{"settings":{"a":[1,9007199254740993]}}',
      400,
      'VALIDATION_FAILED',
      /^settings\.a\.1: the integer 9007199254740993/,
    ],
    [
      'a number beyond a double',
      '{"a":1e999}',
      400,
      'VALIDATION_FAILED',
      /^a: the number 1e999 is too large/,
    ],
    ['a prototype', '{"settings":{"__proto__":{"polluted":1}}}', 400, 'VALIDATION_FAILED', /__proto__/],
    [
      'nesting that is too deep',
      `${'['.repeat(21)}${']'.repeat(21)}`,
      400,
      'VALIDATION_FAILED',
      /deeper than 20/,
    ],
    [
      'invalid UTF-8',
      Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d]),
      400,
      'VALIDATION_FAILED',
      /not valid UTF-8/,
    ],
    ['a body over the limit', `"${'x'.repeat(70_000)}"`, 413, 'PAYLOAD_TOO_LARGE', /http\.body-limit/],
    ['no body', undefined, 400, 'VALIDATION_FAILED', /./],
  ])('refuses %s', async (_what, body, status, code, message) => {
    const [...answer] = await refusal(await send('POST', VALIDATE, body));
    expect(answer).toEqual([status, code, expect.stringMatching(message)]);
  });

  it.each([
    ['another media type', { 'Content-Type': 'text/plain' }],
    ['what curl -d sends by itself', { 'Content-Type': 'application/x-www-form-urlencoded' }],
    ['another charset', { 'Content-Type': 'application/json; charset=gbk' }],
    ['an unknown encoding', { 'Content-Encoding': 'brr' }],
  ])('refuses %s', async (_what, headers) => {
    expect((await refusal(await send('POST', VALIDATE, '{}', headers))).slice(0, 2)).toEqual([
      415,
      'UNSUPPORTED_MEDIA_TYPE',
    ]);
  });

  it('takes a byte order mark, a named charset and compressed bodies, but no bomb', async () => {
    const graphData = { nodes: [], edges: [] };
    const text = JSON.stringify({ mode: 'DAG', graphData, settings: {} });
    for (const [body, headers] of [
      [`\ufeff${text}`, {}],
      [text, { 'Content-Type': 'application/json; charset="UTF-8"' }],
      [gzipSync(text), { 'Content-Encoding': 'gzip' }],
    ] as const) {
      expect((await send('POST', VALIDATE, body, headers)).status).toBe(200);
    }
    const bomb = gzipSync(Buffer.alloc(5_000_000, 0x20));
    expect((await refusal(await send('POST', VALIDATE, bomb, { 'Content-Encoding': 'gzip' })))[0]).toBe(413);
  });

  it('looks at the key before it looks at the body', async () => {
    for (const headers of [{ 'X-API-Key': 'wrong' }, { 'X-API-Key': '' }]) {
      expect((await refusal(await send('POST', RUNS, '{"broken', headers))).slice(0, 2)).toEqual([
        401,
        'UNAUTHORIZED',
      ]);
    }
  });

  it('answers what is no HTTP, and headers that are too large, in the envelope too', async () => {
    expect(await raw(server.url, 'NONSENSE\r\n\r\n')).toMatch(
      /^HTTP\/1\.1 400 .*\{"code":"VALIDATION_FAILED",.*"data":null\}$/s,
    );
    const headers = `GET /health/live HTTP/1.1\r\nHost: x\r\nX-Large: ${'x'.repeat(40_000)}\r\n\r\n`;
    expect(await raw(server.url, headers)).toMatch(
      /^HTTP\/1\.1 431 .*\{"code":"VALIDATION_FAILED",.*"data":null\}$/s,
    );
    expect((await send('GET', '/health/live')).status).toBe(200);
  });

  it.each([
    ['an expectation that nobody meets', 'GET /health/live HTTP/1.1\r\nHost: x\r\nExpect: wonders\r\n', 417],
    [
      'an expectation with a body',
      `POST ${RUNS} HTTP/1.1\r\nHost: x\r\nExpect: 100-continue, more\r\nContent-Length: 1000\r\n`,
      417,
    ],
    ['no Host', 'GET /health/live HTTP/1.1\r\nConnection: close\r\n', 400],
    ['no Host and an expectation', 'GET /health/live HTTP/1.1\r\nExpect: 100-continue\r\n', 400],
    ['two Hosts', 'GET /health/live HTTP/1.1\r\nHost: a\r\nHost: b\r\nConnection: close\r\n', 400],
    ['CONNECT', 'CONNECT example.org:443 HTTP/1.1\r\nHost: example.org\r\n', 405],
    ['CONNECT without Host', 'CONNECT example.org:443 HTTP/1.1\r\n', 405],
  ])('answers %s in the envelope', async (_what, head, status) => {
    const answer = await raw(server.url, `${head}\r\n`);
    const code = status === 405 ? 'METHOD_NOT_ALLOWED' : 'VALIDATION_FAILED';
    const [first = '', body = ''] = answer.split('\r\n\r\n');
    expect(first).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(first).toMatch(/^content-type: application\/json/im);
    expect(first).toMatch(/^connection: close/im);
    expect(first).toMatch(/^x-request-id: [0-9a-f-]{36}/im);
    expect(JSON.parse(body)).toEqual({ code, message: expect.stringMatching(/./) as string, data: null });
    if (status === 405) expect(first).toMatch(/^allow: .*GET/im);
    expect((await send('GET', '/health/live')).status).toBe(200);
  });

  it('meets 100-continue, and wants no Host of HTTP/1.0', async () => {
    const head = `POST ${VALIDATE} HTTP/1.1\r\nHost: x\r\nExpect: 100-Continue\r\nContent-Length: 2\r\nConnection: close\r\n`;
    expect(await raw(server.url, `${head}\r\n{}`)).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 401 /);
    expect(await raw(server.url, 'GET /health/live HTTP/1.0\r\n\r\n')).toMatch(/^HTTP\/1\.1 200 /);
  });

  it('keeps a connection usable after a refused body', async () => {
    const request = (body: string): string =>
      `POST ${VALIDATE} HTTP/1.1\r\nHost: x\r\nX-Admin-Key: wrong\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    const last = 'GET /health/live HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';
    const answers = await raw(server.url, `${request('x'.repeat(200_000))}${last}`);
    expect(answers.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 401', 'HTTP/1.1 200']);
  });

  it('names every request, and lets nothing in an answer run or be guessed', async () => {
    const answer = await send('GET', '/health/live', undefined, { 'X-Request-Id': 'mine-1' });
    expect(answer.headers.get('x-request-id')).toBe('mine-1');
    const other = await send('GET', '/health/live', undefined, { 'X-Request-Id': 'no spaces allowed' });
    expect(other.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
    expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(answer.headers.get('x-powered-by')).toBeNull();
  });

  it('shows its documentation and its numbers', async () => {
    for (const page of ['/docs', '/docs/', '/docs/?a=b', '/docs/index.html']) {
      const html = await (await send('GET', page)).text();
      const parts = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, part]) => part ?? '');
      expect([page, parts.length]).toEqual([page, 5]);
      for (const part of parts) {
        const url = new URL(part, new URL(page, server.url));
        const answer = await send('GET', url.pathname);
        expect([page, part, answer.status]).toEqual([page, part, 200]);
        expect(answer.headers.get('content-type')).not.toContain('html');
        await answer.arrayBuffer();
      }
    }
    const admin = (await (await send('GET', '/docs/admin-openapi.json')).json()) as { paths: object };
    expect(Object.keys(admin.paths)).toContain('/admin/v1/workflows/import');
    const document = (await (await send('GET', '/docs/openapi.json')).json()) as {
      openapi: string;
      paths: object;
    };
    expect(document.openapi).toMatch(/^3\./);
    expect(Object.keys(document.paths)).toContain('/api/v1/workflows/{workflowName}/runs');
    const metrics = await (await send('GET', '/metrics')).text();
    expect(metrics).toMatch(
      /^http_request_duration_seconds_count\{method="GET",route="\/health\/live",status="200"\} \d+$/m,
    );
    expect(metrics).toMatch(/^database_pool_connections\{state="open"\} \d+$/m);
    expect(metrics).toMatch(/^process_resident_memory_bytes \d+$/m);
  });
});
