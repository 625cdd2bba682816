import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { guardedFetch, isPublicAddress, type GuardedRequest, type HostAddress } from './index.js';

const local: HostAddress = { address: '127.0.0.1', family: 4 };

describe('isPublicAddress', () => {
  it.each([
    '127.0.0.1',
    '10.1.2.3',
    '172.16.0.1',
    '192.168.1.1',
    '169.254.169.254',
    '100.64.0.1',
    '0.0.0.0',
    '224.0.0.1',
    '255.255.255.255',
    '192.0.2.1',
    '198.18.0.1',
    '240.0.0.1',
    '::',
    '::1',
    '::7f00:1',
    '::ffff:10.0.0.1',
    'fe80::1',
    'fe80::1%eth0',
    'fd00::1',
    'ff02::1',
    '64:ff9b::7f00:1',
    '2002:7f00:1::',
    '2001:db8::1',
    '100::1',
    'localhost',
    '',
  ])('refuses %s', (address) => expect(isPublicAddress(address)).toBe(false));

  it.each(['8.8.8.8', '1.1.1.1', '2606:4700:4700::1111', '::ffff:8.8.8.8'])('takes %s', (address) =>
    expect(isPublicAddress(address)).toBe(true),
  );
});

describe('guardedFetch', () => {
  let server: Server;
  let port: number;
  let answer: RequestListener;

  beforeEach(async () => {
    answer = (_, response) => response.end('hello');
    server = createServer((request, response) => answer(request, response));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    ({ port } = server.address() as AddressInfo);
  });
  afterEach(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  const fetchUrl = (url: string, options: Partial<GuardedRequest> = {}) =>
    guardedFetch(new URL(url), { allowedHosts: [], timeoutMs: 5000, maxResponseBytes: 1000, ...options });

  it.each([
    'http://127.0.0.1',
    'http://0x7f.1',
    'http://2130706433',
    'http://[::1]',
    'http://[::ffff:127.0.0.1]',
    'http://localhost',
  ])('refuses %s', async (url) => {
    await expect(fetchUrl(`${url}:${port}/`)).rejects.toThrow(/internal address/);
  });

  it.each(['ftp://example.com/', 'file:///etc/passwd', 'http://user:secret@example.com/'])(
    'refuses %s',
    async (url) => {
      await expect(fetchUrl(url)).rejects.toThrow(/not allowed|only http/);
    },
  );

  it('reaches an allowed host, with or without its port, and no other port', async () => {
    for (const allowed of ['127.0.0.1', `127.0.0.1:${port}`]) {
      const { status, body } = await fetchUrl(`http://127.0.0.1:${port}/`, { allowedHosts: [allowed] });
      expect([status, body.toString()]).toEqual([200, 'hello']);
    }
    await expect(fetchUrl(`http://127.0.0.1:${port}/`, { allowedHosts: ['127.0.0.1:1'] })).rejects.toThrow(
      /internal/,
    );
  });

  it('refuses a name with one internal address among public ones', async () => {
    const resolve = () => Promise.resolve([{ address: '8.8.8.8', family: 4 as const }, local]);
    await expect(fetchUrl('http://mixed.example/', { resolve })).rejects.toThrow(/internal/);
  });

  it('looks a name up once and connects to what was checked (DNS rebinding)', async () => {
    const answers = [[local], [{ address: '8.8.8.8', family: 4 as const }]];
    const resolve = () => Promise.resolve(answers.shift() ?? []);
    const url = `http://rebinding.example:${port}/`;
    const { body } = await fetchUrl(url, { resolve, allowedHosts: ['rebinding.example'] });
    expect(body.toString()).toBe('hello');
    expect(answers).toHaveLength(1);
  });

  it('sends method, headers and body, and follows no redirect', async () => {
    let got = '';
    answer = (request, response) => {
      request.on('data', (chunk: Buffer) => (got += chunk.toString()));
      request.on('end', () =>
        response.writeHead(302, { location: 'http://169.254.169.254/' }).end(request.method),
      );
    };
    const allowedHosts = ['127.0.0.1'];
    const { status, headers } = await fetchUrl(`http://127.0.0.1:${port}/`, {
      method: 'POST',
      body: '{"a":"ä"}',
      allowedHosts,
    });
    expect([got, status, headers.location]).toEqual(['{"a":"ä"}', 302, 'http://169.254.169.254/']);
  });

  it('fails on, or cuts, a long answer', async () => {
    answer = (_, response) => response.end('x'.repeat(100_000));
    const options = { allowedHosts: ['127.0.0.1'] };
    await expect(fetchUrl(`http://127.0.0.1:${port}/`, options)).rejects.toThrow(/longer than 1000/);
    const { body } = await fetchUrl(`http://127.0.0.1:${port}/`, { ...options, longResponse: 'cut' });
    expect(body).toHaveLength(1000);
  });

  it('ends after its time, before and after the answer has begun', async () => {
    const options = { allowedHosts: ['127.0.0.1'], timeoutMs: 50 };
    answer = () => undefined;
    await expect(fetchUrl(`http://127.0.0.1:${port}/`, options)).rejects.toThrow(/within 50 ms/);
    answer = (_, response) => response.write('x');
    await expect(fetchUrl(`http://127.0.0.1:${port}/`, options)).rejects.toThrow(/within 50 ms/);
    const resolve = () => new Promise<never>(() => undefined);
    await expect(fetchUrl('http://slow.example/', { ...options, resolve })).rejects.toThrow(/within 50 ms/);
  });

  it('takes no other protocol than the one it speaks', async () => {
    server.on('connection', (socket) =>
      socket.once('data', () =>
        socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n'),
      ),
    );
    answer = () => undefined;
    const options = { allowedHosts: ['127.0.0.1'] };
    await expect(fetchUrl(`http://127.0.0.1:${port}/`, options)).rejects.toThrow(
      /switched to another protocol/,
    );
  });

  it('ends with the reason of its signal', async () => {
    const abort = new AbortController();
    answer = () => abort.abort(new Error('cancelled'));
    const options = { allowedHosts: ['127.0.0.1'], signal: abort.signal };
    await expect(fetchUrl(`http://127.0.0.1:${port}/`, options)).rejects.toThrow('cancelled');
  });

  it('says that a name has no address', async () => {
    const resolve = () => Promise.reject(new Error('ENOTFOUND'));
    await expect(fetchUrl('http://none.example/', { resolve })).rejects.toThrow(/cannot be resolved/);
  });
});
