import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTcpServer, type AddressInfo } from 'node:net';
import { Deadlines } from './deadlines.js';
import { readBody } from './read-body.js';
import { sendToProvider } from './send-to-provider.js';

const servers: { close(): void }[] = [];
const never = new AbortController().signal;

async function serve(handler: RequestListener): Promise<string> {
  const server: Server = createServer(handler).listen(0, '127.0.0.1');
  servers.push({
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  });
  await once(server, 'listening');
  return `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
}

afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

describe('sendToProvider', () => {
  it('sends the body as JSON and gives what comes', async () => {
    const url = await serve((request, response) => {
      let body = '';
      request.on('data', (chunk: Buffer) => (body += chunk.toString()));
      request.on('end', () => {
        response.setHeader('content-type', 'Application/JSON; charset=utf-8');
        response.end(body + String(request.headers['accept-encoding']));
      });
    });
    const answer = await sendToProvider({ method: 'POST', url, headers: {}, body: { a: '你' } }, never);
    expect(answer).toMatchObject({ status: 200, contentType: 'application/json' });
    expect(await readBody(answer)).toBe('{"a":"你"}identity');
  });

  it('tells that nothing was sent where nobody listens', async () => {
    const url = await serve(() => undefined);
    servers.splice(0).forEach((server) => {
      server.close();
    });
    let isSent = false;
    const sent = sendToProvider({ method: 'POST', url, headers: {}, body: {} }, never, () => {
      isSent = true;
    });
    await expect(sent).rejects.toMatchObject({ kind: 'connect_failed' });
    expect(isSent).toBe(false);
  });

  it('tells that the request was lost where the connection breaks after it', async () => {
    let isSent = false;
    const url = await serve((request) => request.socket.resetAndDestroy());
    const sent = sendToProvider({ method: 'POST', url, headers: {}, body: {} }, never, () => {
      isSent = true;
    });
    await expect(sent).rejects.toMatchObject({ kind: 'lost' });
    expect(isSent).toBe(true);
  });

  it('tells broken HTTP', async () => {
    const server = createTcpServer((socket) =>
      socket.on('data', () => socket.end('HTTP/1.1 OK\r\n\r\nnonsense')),
    );
    server.listen(0, '127.0.0.1');
    servers.push(server);
    await once(server, 'listening');
    const url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
    await expect(sendToProvider({ method: 'GET', url, headers: {} }, never)).rejects.toMatchObject({
      kind: 'malformed',
    });
  });

  it('ends with the signal, before and while the body comes', async () => {
    const url = await serve((_request, response) => response.write('a'));
    const cancel = new AbortController();
    const deadlines = new Deadlines({ totalMs: 5_000, idleMs: 5_000, signal: cancel.signal });
    const answer = await sendToProvider({ method: 'GET', url, headers: {} }, deadlines.signal);
    const body = readBody(answer);
    cancel.abort();
    await expect(body).rejects.toMatchObject({ kind: 'aborted' });
    await expect(sendToProvider({ method: 'GET', url, headers: {} }, deadlines.signal)).rejects.toMatchObject(
      { kind: 'aborted' },
    );
  });

  it('refuses a body beyond the limit', async () => {
    const url = await serve((_request, response) => response.end('x'.repeat(2_000)));
    const answer = await sendToProvider({ method: 'GET', url, headers: {} }, never);
    await expect(readBody(answer, 1_000)).rejects.toMatchObject({ kind: 'too_large' });
  });
});

describe('Deadlines', () => {
  it('end in total, whatever signs of life there are', async () => {
    const deadlines = new Deadlines({ totalMs: 60, idleMs: 1_000, signal: never });
    const alive = setInterval(() => {
      deadlines.progress();
    }, 5);
    await once(deadlines.signal, 'abort');
    clearInterval(alive);
    expect(deadlines.fault).toMatchObject({ kind: 'deadline', message: 'no answer within 0.06 s' });
  });

  it('end when idle, later by every sign of life', async () => {
    const startedAt = performance.now();
    const deadlines = new Deadlines({ totalMs: 5_000, idleMs: 60, signal: never });
    setTimeout(() => {
      deadlines.progress();
    }, 40);
    await once(deadlines.signal, 'abort');
    expect(performance.now() - startedAt).toBeGreaterThan(90);
    expect(deadlines.fault?.message).toBe('no sign of life for 0.06 s');
  });

  it('end with the caller', () => {
    const cancel = new AbortController();
    const deadlines = new Deadlines({ totalMs: 5_000, idleMs: 5_000, signal: cancel.signal });
    expect(deadlines.fault).toBeNull();
    cancel.abort();
    expect(deadlines.fault).toMatchObject({ kind: 'aborted' });
    deadlines.close();
  });
});
