import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DataFolderInUseError, DataFolderLock } from './data-folder-lock.js';

describe('DataFolderLock', () => {
  let directory: string;
  beforeEach(async () => {
    directory = await mkdtemp(path.join(tmpdir(), 'lock-'));
  });
  afterEach(() => rm(directory, { recursive: true }));

  it('is held by one at a time, by whatever name the folder goes', async () => {
    const lock = await DataFolderLock.acquire(directory);
    const sameFolder = path.join(directory, '..', path.basename(directory));
    await expect(DataFolderLock.acquire(sameFolder)).rejects.toThrow(DataFolderInUseError);
    await lock.release();
    const again = await DataFolderLock.acquire(directory);
    await again.release();
    expect(await readdir(directory)).toEqual([]);
  });

  it('lets exactly one of many through that come at once', async () => {
    const attempts = await Promise.allSettled(
      Array.from({ length: 20 }, () => DataFolderLock.acquire(directory)),
    );
    const held = attempts.flatMap((attempt) => (attempt.status === 'fulfilled' ? [attempt.value] : []));
    expect(held).toHaveLength(1);
    await held[0]?.release();
  });

  it('is free again once its holder was killed, although its socket file is still there', async () => {
    const file = path.join(directory, 'server.lock');
    const script = `require('node:net').createServer().listen(${JSON.stringify(file)}, () => console.log('held'))`;
    const holder = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
    await once(holder.stdout, 'data');
    // It holds the file alone, as a process in another network namespace would.
    await expect(DataFolderLock.acquire(directory)).rejects.toThrow('is in use by another server');
    holder.kill('SIGKILL');
    await once(holder, 'close');
    expect(await readdir(directory)).toEqual(['server.lock']);
    const lock = await DataFolderLock.acquire(directory);
    await lock.release();
  });

  it('works where the path is too long for a socket file', async () => {
    const deep = path.join(directory, ...Array.from({ length: 6 }, () => 'd'.repeat(40)));
    await mkdir(deep, { recursive: true });
    const lock = await DataFolderLock.acquire(deep);
    await expect(DataFolderLock.acquire(deep)).rejects.toThrow(DataFolderInUseError);
    await lock.release();
  });

  it('tells folders apart', async () => {
    const other = await mkdtemp(path.join(tmpdir(), 'lock-'));
    const locks = await Promise.all([directory, other].map((one) => DataFolderLock.acquire(one)));
    await Promise.all(locks.map((lock) => lock.release()));
    await rm(other, { recursive: true });
  });

  it('takes nothing that answers for left over', async () => {
    const server = createServer((socket) => socket.destroy()).listen(path.join(directory, 'server.lock'));
    await once(server, 'listening');
    await expect(DataFolderLock.acquire(directory)).rejects.toThrow(DataFolderInUseError);
    server.close();
    await once(server, 'close');
  });
});
