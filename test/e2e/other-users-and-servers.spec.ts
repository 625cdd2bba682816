import { execFile } from 'node:child_process';
import { chmod, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { TestServer } from '../support/test-server.js';

const run = promisify(execFile);
const ROOT = path.resolve(import.meta.dirname, '../..');
const isRoot = process.getuid?.() === 0;
const NOBODY = 65_534;

/** Whether everybody may read the checkout: below a 0700 home another user cannot start it. */
async function everybodyReads(directory: string): Promise<boolean> {
  for (let at = directory; ; at = path.dirname(at)) {
    if (((await stat(at)).mode & 0o001) === 0) return false;
    if (at === path.dirname(at)) return true;
  }
}

/** The newest PostgreSQL of the system, 14 or later, as Debian lays it out. */
async function systemPostgres(): Promise<string | undefined> {
  const versions = await readdir('/usr/lib/postgresql').catch(() => []);
  const newest = versions
    .map(Number)
    .filter((version) => version >= 14)
    .sort((a, b) => b - a)[0];
  return newest === undefined ? undefined : `/usr/lib/postgresql/${newest}/bin`;
}

describe('the server', () => {
  it('runs as an ordinary user, whose PostgreSQL runs as the same', async () => {
    if (!isRoot || !(await everybodyReads(ROOT))) {
      console.warn(
        'not run: only root, with a checkout that others can read, can start a server as somebody else',
      );
      return;
    }
    const server = await TestServer.start({ uid: NOBODY });
    expect((await fetch(`${server.url}/health/ready`)).status).toBe(200);
    const owners = await Promise.all(
      server.descendants().map(async (pid) => (await stat(`/proc/${pid}`)).uid),
    );
    expect(new Set(owners)).toEqual(new Set([NOBODY]));
    await server.stop();
  });

  it("keeps its rows in the system's PostgreSQL", async () => {
    const bin = await systemPostgres();
    if (bin === undefined) {
      console.warn(
        'not run: this machine has no PostgreSQL of 14 or newer (Debian: apt-get install postgresql)',
      );
      return;
    }
    const directory = await mkdtemp(path.join(tmpdir(), 'system-postgres-'));
    await chmod(directory, 0o777);
    const data = path.join(directory, 'data');
    const options = isRoot ? { uid: NOBODY, gid: NOBODY, cwd: '/' } : { cwd: '/' };
    const control = (...args: string[]) =>
      run(path.join(bin, 'pg_ctl'), ['-D', data, '-w', ...args], options);
    await run(
      path.join(bin, 'initdb'),
      ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C'],
      options,
    );
    await control('-o', `-k ${directory} -c listen_addresses=`, '-l', path.join(directory, 'log'), 'start');
    try {
      const databaseUrl = `postgresql://postgres@localhost/postgres?host=${encodeURIComponent(directory)}`;
      const first = await TestServer.start({ databaseUrl });
      const key = { name: 'kept' };
      expect((await first.request('POST', '/admin/v1/api-keys', key)).status).toBe(201);
      await first.stop();
      const second = await TestServer.start({ databaseUrl });
      expect(await (await second.request('GET', '/admin/v1/api-keys')).text()).toContain('"kept"');
      await second.stop();
    } finally {
      await control('-m', 'fast', 'stop');
      await rm(directory, { recursive: true });
    }
  });
});
