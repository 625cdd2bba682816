import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises';
import { createServer, request as httpRequest, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { receiveUpload, type Upload, type UploadLimits } from './receive-upload.js';

const LIMITS: UploadLimits = { fileBytes: 1000, totalBytes: 1500, files: 3, fieldBytes: 100 };

interface Part {
  head: string;
  body: string | Buffer;
}

const file = (filename: string, body: string | Buffer, extra = ''): Part => ({
  head: `Content-Disposition: form-data; name="files"; filename="${filename}"${extra}`,
  body,
});
const field = (name: string, body: string, extra = ''): Part => ({
  head: `Content-Disposition: form-data; name="${name}"${extra}`,
  body,
});

function multipart(parts: Part[], end = '--B--\r\n'): Buffer {
  const chunks = parts.flatMap(({ head, body }) => [
    Buffer.from(`--B\r\n${head}\r\n\r\n`),
    Buffer.from(body),
    Buffer.from('\r\n'),
  ]);
  return Buffer.concat([...chunks, Buffer.from(end)]);
}

describe('receiveUpload', () => {
  let server: Server;
  let staged: string;
  let outcome: Promise<Upload>;
  let arrived: () => void;

  beforeEach(async () => {
    staged = await mkdtemp(path.join(os.tmpdir(), 'upload-'));
    let settle: (upload: Promise<Upload>) => void;
    outcome = new Promise((resolve) => (settle = resolve));
    outcome.catch(() => undefined);
    arrived = () => undefined;
    server = createServer((request, response) => {
      arrived();
      const received = receiveUpload(request, staged, LIMITS);
      settle(received);
      received.then(
        () => response.end('ok'),
        () => response.writeHead(400).end('refused'),
      );
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });

  afterEach(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await rm(staged, { recursive: true, force: true });
  });

  const connect = (headers: Record<string, string | number> = {}) => {
    const outgoing = httpRequest({
      port: (server.address() as AddressInfo).port,
      host: '127.0.0.1',
      method: 'POST',
      headers: { 'content-type': 'multipart/form-data; boundary=B', ...headers },
    });
    outgoing.on('error', () => undefined);
    outgoing.on('response', (response) => response.resume());
    return outgoing;
  };

  const post = (body: Buffer, chunkBytes = body.length): Promise<Upload> => {
    const outgoing = connect();
    for (let at = 0; at < body.length; at += chunkBytes) outgoing.write(body.subarray(at, at + chunkBytes));
    outgoing.end();
    return outcome;
  };

  it('takes files before and after the payload, in the bytes and names they came with', async () => {
    const parts = [
      file('报告.md', '# 标题\r\n'),
      {
        head: 'content-disposition: form-data; name="payload"; filename="blob"\r\nContent-Type: application/json',
        body: '{"a":1}',
      },
      {
        head: 'Content-Disposition: form-data; name="files"; filename="x"\r\nX-Relative-Path: 资料/😀.bin',
        body: Buffer.from([0, 13, 10, 45, 45, 67]),
      },
    ];
    const upload = await post(multipart(parts));
    expect(upload.payload).toBe('{"a":1}');
    expect(upload.files.map(({ path: name, bytes }) => [name, bytes])).toEqual([
      ['报告.md', 10],
      ['资料/😀.bin', 6],
    ]);
    expect(await readFile(path.join(staged, '报告.md'), 'utf8')).toBe('# 标题\r\n');
    expect(await readFile(path.join(staged, '资料/😀.bin'))).toEqual(Buffer.from([0, 13, 10, 45, 45, 67]));
  });

  it.each([1, 2, 3, 7, 64])('reads a body that arrives in chunks of %i bytes', async (chunkBytes) => {
    const upload = await post(
      multipart([field('payload', '{}'), file('a/b.txt', 'x'.repeat(300)), file('c', '')]),
      chunkBytes,
    );
    expect(upload.files.map(({ path: name, bytes }) => [name, bytes])).toEqual([
      ['a/b.txt', 300],
      ['c', 0],
    ]);
  });

  it('prefers filename* to filename', async () => {
    const upload = await post(multipart([file('fallback.md', 'x', "; filename*=UTF-8''%e6%8a%a5%20%27.md")]));
    expect(upload.files[0]?.path).toBe("报 '.md");
  });

  it('takes an empty form', async () => {
    expect(await post(multipart([]))).toEqual({ payload: null, files: [] });
  });

  it.each<[string, Part[], RegExp]>([
    ['a path that leaves', [file('../evil', 'x')], /leaves the workspace/],
    ['the same path twice', [file('a/./b', 'x'), file('a//b', 'y')], /used twice/],
    ['a file below a file', [file('a', 'x'), file('a/b', 'y')], /below a file/],
    ['a file where a folder is', [file('a/b', 'x'), file('a', 'y')], /file and a folder/],
    ['an unknown part', [file('a', 'x'), field('other', 'y')], /unknown part/],
    ['a file without a name', [field('files', 'y')], /no file name/],
    ['two payloads', [field('payload', '{}'), field('payload', '{}')], /more than one payload/],
    ['a large payload', [field('payload', 'x'.repeat(101))], /field-bytes/],
    ['a large file', [file('a', 'x'.repeat(1001))], /file-bytes/],
    ['too much in all', [file('a', 'x'.repeat(900)), file('b', 'x'.repeat(900))], /total-bytes/],
    ['too many files', [1, 2, 3, 4].map((at) => file(`f${at}`, '')), /limits\.files/],
    ['a part without disposition', [{ head: 'X-A: b', body: 'x' }], /no Content-Disposition/],
    [
      'two paths',
      [file('a', 'x', '\r\nX-Relative-Path: b\r\nX-Relative-Path: c')],
      /more than one x-relative-path/,
    ],
    ['headers without end', [file('a', 'x', `; x="${'y'.repeat(20_000)}"`)], /headers of one part/],
  ])('refuses %s', async (_, parts, why) => {
    await expect(post(multipart(parts))).rejects.toThrow(why);
  });

  it.each([
    '',
    '--B',
    '\r\n--B-',
    '--B\r\n',
    '--B\r\nContent-Disposition: form-data; name="files"; filename="b"\r\n',
  ])('refuses a body that ends in %j', async (end) => {
    await expect(post(multipart([file('a', 'x')], end))).rejects.toThrow(/truncated|malformed|no headers/);
  });

  it('refuses a body cut off at any byte', async () => {
    const whole = multipart([field('payload', '{}'), file('a', 'xyz')]).subarray(0, -4);
    const { port } = server.address() as AddressInfo;
    server.removeAllListeners('request');
    const outcomes: string[] = [];
    server.on('request', (request, response) => {
      void receiveUpload(request, staged, LIMITS)
        .then(
          () => 'accepted',
          () => 'refused',
        )
        .then(async (text) => {
          await rm(path.join(staged, 'a'), { force: true });
          response.end(text);
        });
    });
    for (let length = 0; length < whole.length; length += 1) {
      const answer = await fetch(`http://127.0.0.1:${port}`, {
        method: 'POST',
        body: new Uint8Array(whole.subarray(0, length)),
        headers: { 'content-type': 'multipart/form-data; boundary=B' },
      });
      outcomes.push(await answer.text());
    }
    expect(outcomes.filter((text) => text !== 'refused')).toEqual([]);
  });

  it('ends when the client goes away, with nothing being written any more', async () => {
    const outgoing = connect({ 'content-length': 10_000 });
    const started = new Promise<void>((resolve) => (arrived = resolve));
    outgoing.write(multipart([file('a', 'x'.repeat(500))], ''));
    await started;
    outgoing.destroy();
    await expect(outcome).rejects.toThrow(/cut off/);
    await rm(staged, { recursive: true });
    await expect(readdir(staged)).rejects.toThrow(/ENOENT/);
  });
});
