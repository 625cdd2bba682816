import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { nodeVisit } from '../../../test/factories/node-visit.js';
import type { JsonObject, JsonValue } from '../../common/json/json-value.js';
import type { HostAddress } from '../../common/net/index.js';
import { HttpExecutor, type HttpRules } from './http.executor.js';
import { NodeFailure } from './node-failure.js';

const LOCAL: HostAddress = { address: '127.0.0.1', family: 4 };

interface Received {
  method: string;
  url: string;
  headers: IncomingMessage['headers'];
  body: string;
}

describe('http', () => {
  let server: Server;
  let base: string;
  let port: number;
  let answer: RequestListener;
  let received: Received[];

  beforeEach(async () => {
    received = [];
    answer = (_, response) => response.end();
    server = createServer((request, response) => {
      let body = '';
      request.setEncoding('utf8');
      request.on('data', (chunk: string) => (body += chunk));
      request.on('end', () => {
        received.push({
          method: request.method ?? '',
          url: request.url ?? '',
          headers: request.headers,
          body,
        });
        answer(request, response);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    ({ port } = server.address() as AddressInfo);
    base = `http://127.0.0.1:${port}`;
  });
  afterEach(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  async function call(
    data: JsonObject,
    options: {
      rules?: Partial<HttpRules>;
      scope?: Record<string, JsonValue>;
      seconds?: number;
      signal?: AbortSignal;
    } = {},
  ): Promise<JsonObject> {
    const executor = new HttpExecutor({
      allowedHosts: ['127.0.0.1', 'a.test', 'b.test'],
      resolve: toHere,
      ...options.rules,
    });
    const visit = nodeVisit(
      'http',
      { method: 'GET', url: `${base}/`, ...data },
      {
        scope: options.scope ?? {},
        timeoutSeconds: options.seconds ?? 10,
      },
    );
    const result = await executor.execute(visit, options.signal ?? new AbortController().signal);
    if (result.kind !== 'completed') throw new Error('it waits');
    return result.data;
  }

  const toHere = () => Promise.resolve([LOCAL]);

  async function failure(...args: Parameters<typeof call>): Promise<NodeFailure> {
    const error: unknown = await call(...args).then(
      (data) => new Error(`it gave ${JSON.stringify(data)}`),
      (thrown: unknown) => thrown,
    );
    if (!(error instanceof NodeFailure)) throw error;
    return error;
  }

  it('renders URL, headers and body; a body that is no text goes out as JSON', async () => {
    const scope = { in: { q: '量 子', n: 5, list: [1, { a: 2 }] } };
    const data = {
      method: 'POST',
      url: ` ${base}/x?q={{ in.q | url_encode }} `,
      headers: { 'X-Name': '{{ in.q }}' },
      body: { n: '{{ in.n }}', list: '{{ in.list }}', text: 'n={{ in.n }}' },
    };
    await call(data, { scope });
    expect(received[0]).toMatchObject({
      method: 'POST',
      url: '/x?q=%E9%87%8F+%E5%AD%90',
      body: '{"n":5,"list":[1,{"a":2}],"text":"n=5"}',
      headers: {
        'content-type': 'application/json',
        'accept-encoding': 'identity',
        host: `127.0.0.1:${port}`,
      },
    });
    const name = received[0]?.headers['x-name'];
    expect(Buffer.from(String(name), 'latin1').toString('utf8')).toBe('量 子');
  });

  it.each<[JsonValue, Record<string, string>, string, string]>([
    ['a={{ in.n }}', {}, 'a=5', 'text/plain; charset=utf-8'],
    [
      'a=1',
      { 'Content-Type': 'application/x-www-form-urlencoded' },
      'a=1',
      'application/x-www-form-urlencoded',
    ],
    ['{{ in.o }}', {}, '{"a":1}', 'application/json'],
    [['{{ in.n }}'], {}, '[5]', 'application/json'],
  ])('sends the body %j', async (body, headers, expected, type) => {
    for (const method of ['POST', 'GET']) {
      await call({ method, body, headers }, { scope: { in: { n: 5, o: { a: 1 } } } });
      const last = received.at(-1);
      expect([last?.method, last?.body, last?.headers['content-type']]).toEqual([method, expected, type]);
    }
  });

  it.each<[string, string, JsonValue]>([
    ['application/json', '{"a":[1,"甲"]}', { a: [1, '甲'] }],
    ['application/problem+json; charset=utf-8', '5', 5],
    ['application/json', '', null],
    [
      'application/json',
      '{"id":1234567890123456789,"t":"1234567890123456789","f":0.1234567890123456,"e":[9007199254740993e0,1e400]}',
      {
        id: '1234567890123456789',
        t: '1234567890123456789',
        f: 0.1234567890123456,
        e: ['9007199254740993e0', '1e400'],
      },
    ],
    ['text/plain', '{"a":1}', '{"a":1}'],
    ['text/html; charset="utf-8"', '<p>甲</p>', '<p>甲</p>'],
  ])('reads %s %s', async (type, body, expected) => {
    answer = (_, response) => response.writeHead(200, { 'content-type': type }).end(body);
    expect(await call({})).toMatchObject({ status: 200, headers: { 'content-type': type }, body: expected });
  });

  it('reads other charsets, compressed answers and bytes that are no text', async () => {
    answer = (_, response) =>
      response
        .writeHead(200, { 'content-type': 'text/plain; charset=gb18030' })
        .end(Buffer.from([0xc1, 0xbf]));
    expect(await call({})).toMatchObject({ body: '量' });
    answer = (_, response) =>
      response
        .writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' })
        .end(gzipSync('{"a":1}'));
    expect(await call({ headers: { 'Accept-Encoding': 'gzip' } })).toMatchObject({ body: { a: 1 } });
    answer = (_, response) =>
      response.writeHead(200, { 'content-type': 'image/png' }).end(Buffer.from([0x89, 0x50, 0xff]));
    expect(await call({})).toMatchObject({
      body: Buffer.from([0x89, 0x50, 0xff]).toString('base64'),
      encoding: 'base64',
    });
    answer = (_, response) => response.writeHead(204).end();
    expect(await call({})).toMatchObject({ status: 204, body: '' });
  });

  it.each([
    [400, false],
    [401, false],
    [404, false],
    [408, true],
    [409, false],
    [429, true],
    [500, true],
    [503, true],
  ])('fails on %d, retryable: %j', async (status, retryable) => {
    answer = (_, response) => response.writeHead(status).end('  no\n such thing ');
    const error = await failure({ url: `${base}/path?key=secret` });
    expect([error.code, error.retryable]).toEqual(['HTTP_STATUS', retryable]);
    expect(error.message).toBe(`GET ${base}/path answered ${status}: no such thing`);
  });

  it('finds a broken, refused or missing connection retryable', async () => {
    answer = (request) => request.socket.destroy();
    expect(await failure({})).toMatchObject({ code: 'HTTP_CONNECTION', retryable: true });
    answer = (request, response) => {
      response.writeHead(200, { 'content-length': '100' }).write('x', () => request.socket.destroy());
    };
    expect(await failure({})).toMatchObject({ code: 'HTTP_CONNECTION', retryable: true });
    const closed = createServer();
    await new Promise<void>((resolve) => closed.listen(0, '127.0.0.1', resolve));
    const { port: free } = closed.address() as AddressInfo;
    await new Promise((resolve) => closed.close(resolve));
    expect(await failure({ url: `http://127.0.0.1:${free}` })).toMatchObject({ retryable: true });
    const resolve = () => Promise.reject(new Error('ENOTFOUND'));
    expect(await failure({ url: 'http://nowhere.test' }, { rules: { resolve } })).toMatchObject({
      retryable: true,
      message: expect.stringMatching(/cannot be resolved/) as string,
    });
  });

  it('ends with its time, and when it is told to', async () => {
    answer = () => undefined;
    expect(await failure({}, { seconds: 0.1 })).toMatchObject({ code: 'HTTP_CONNECTION', retryable: true });
    const abort = new AbortController();
    answer = () => abort.abort(new Error('cancelled'));
    await expect(call({}, { signal: abort.signal })).rejects.toThrow('cancelled');
  });

  it.each([
    'http://127.0.0.1:1/',
    'http://[::ffff:10.0.0.1]/',
    'http://169.254.169.254/latest/meta-data',
    'http://0x7f000001/',
    'http://internal.test/',
    'http://[64:ff9b::7f00:1]/',
  ])('refuses %s unless it is allowed', async (url) => {
    const rules = { allowedHosts: ['127.0.0.1:2'] };
    const error = await failure({ url }, { rules });
    expect([error.code, error.retryable]).toEqual(['HTTP_REFUSED', false]);
    expect(received).toEqual([]);
  });

  it.each<[JsonObject, RegExp]>([
    [{ url: 'file:///etc/passwd' }, /no http or https URL/],
    [{ url: '{{ in.nothing }}' }, /"" is no http or https URL/],
    [{ headers: { 'X-A': '{{ in.lines }}' } }, /X-A would hold a line break/],
    [{ headers: { 'X-A': 'a\u0001b' } }, /X-A would hold a control character/],
    [{ headers: { 'X-A': 'a\u007f' } }, /X-A would hold a control character/],
    [{ headers: { Host: 'other' } }, /Host is set by the connection/],
    [{ headers: { 'X-A': 'x'.repeat(20_000) } }, /longer than 16000 bytes/],
    [{ body: '{{ in.big }}{{ in.big }}' }, /larger than 10485760 bytes|longer than/],
  ])('refuses to send %.60j', async (data, message) => {
    const scope = { in: { lines: 'a\r\nX-Evil: 1', big: '量'.repeat(2_000_000) } };
    expect(await failure(data, { scope })).toMatchObject({
      code: 'HTTP_REQUEST',
      message: expect.stringMatching(message) as string,
    });
    expect(received).toEqual([]);
  });

  it('takes no more than it may, nor a bomb', async () => {
    const rules = { maxResponseBytes: 10_000 };
    answer = (_, response) => response.end('x'.repeat(10_001));
    expect(await failure({}, { rules })).toMatchObject({ code: 'HTTP_TOO_LARGE', retryable: false });
    answer = (_, response) =>
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('x'.repeat(1_000_000)));
    expect(await failure({}, { rules })).toMatchObject({ code: 'HTTP_TOO_LARGE' });
  });

  it.each([
    ['{"a":', /says that it is JSON/],
    ['['.repeat(500) + ']'.repeat(500), /nested deeper than 100/],
    ['{"__proto__":{"a":1}}', /__proto__/],
  ])('fails on JSON that is none: %.20s', async (body, message) => {
    answer = (_, response) => response.writeHead(200, { 'content-type': 'application/json' }).end(body);
    expect(await failure({})).toMatchObject({
      code: 'HTTP_RESPONSE',
      message: expect.stringMatching(message) as string,
    });
  });

  describe('redirects', () => {
    const redirect =
      (location: string, status = 302): RequestListener =>
      (request, response) =>
        request.url === '/'
          ? response.writeHead(status, { location: Buffer.from(location).toString('latin1') }).end()
          : response.end('there');

    it.each([
      [301, 'POST', 'GET', ''],
      [302, 'POST', 'GET', ''],
      [302, 'PUT', 'PUT', 'body'],
      [303, 'PUT', 'GET', ''],
      [307, 'POST', 'POST', 'body'],
      [308, 'DELETE', 'DELETE', 'body'],
    ])('follows %d of %s as %s', async (status, method, then, body) => {
      answer = redirect('/量?x', status);
      expect(await call({ method, body: 'body' })).toMatchObject({ status: 200, body: 'there' });
      expect(received[1]).toMatchObject({ method: then, url: '/%E9%87%8F?x', body });
    });

    it('keeps credentials within the origin and drops them for another', async () => {
      const headers = { Authorization: 'Bearer x', Cookie: 'c', 'X-Api-Key': 'k', 'X-Other': 'o' };
      answer = redirect(`http://a.test:${port}/there`);
      await call({ url: `http://a.test:${port}/`, headers });
      expect(received[1]?.headers).toMatchObject({
        authorization: 'Bearer x',
        cookie: 'c',
        'x-api-key': 'k',
      });
      received = [];
      answer = redirect(`http://b.test:${port}/there`);
      await call({ url: `http://a.test:${port}/`, headers });
      expect(received[1]?.headers).toMatchObject({ host: `b.test:${port}`, 'x-other': 'o' });
      for (const name of ['authorization', 'cookie', 'x-api-key']) {
        expect(received[1]?.headers).not.toHaveProperty(name);
      }
    });

    it('checks every target anew', async () => {
      for (const location of ['http://169.254.169.254/', 'http://evil.test/', 'file:///etc/passwd']) {
        answer = redirect(location);
        expect(await failure({})).toMatchObject({ code: 'HTTP_REFUSED', retryable: false });
      }
    });

    it('gives up after five', async () => {
      answer = redirect('/');
      expect(await failure({})).toMatchObject({ code: 'HTTP_REDIRECT', retryable: false });
      expect(received).toHaveLength(6);
    });
  });
});
