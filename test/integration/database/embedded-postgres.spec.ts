import { chmod, mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pino } from 'pino';
import { openDatabase } from '../../../src/database/open-database.js';

const log = pino({ level: process.env.LOUD ?? 'silent' });

describe('the embedded PostgreSQL', () => {
  let directory: string;
  beforeEach(async () => {
    directory = await mkdtemp(path.join(tmpdir(), 'embedded-'));
    await chmod(directory, 0o755);
  });
  afterEach(() => rm(directory, { recursive: true }));
  const settings = () => ({
    databaseUrl: null,
    dataDir: path.join(directory, 'data'),
    database: { poolSize: 3 },
  });

  it('starts, keeps its rows and starts again', async () => {
    const first = await openDatabase(settings(), log);
    await first.dataSource.query('CREATE TABLE kept AS SELECT 1 AS n');
    expect(first.address.exclusive).toBe(true);
    await expect(openDatabase(settings(), log)).rejects.toThrow('is in use by another server');
    await first.close();
    const second = await openDatabase(settings(), log);
    expect(await second.dataSource.query('SELECT n FROM kept')).toEqual([{ n: 1 }]);
    expect(await second.dataSource.query('SHOW fsync')).toEqual([{ fsync: 'on' }]);
    await second.close();
    const password = path.join(directory, 'data/postgres/password');
    expect((await stat(password)).mode & 0o777).toBe(0o600);
    expect((await readFile(password, 'utf8')).trim()).toHaveLength(48);
  });
});
