import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pino } from 'pino';
import { createDataSource } from '../../../src/database/data-source.js';
import { migrationSource } from '../../../src/database/commands/migration-source.js';
import { schemaDifference } from '../../../src/database/commands/schema-difference.js';
import { openDatabase } from '../../../src/database/open-database.js';
import { runMigrations } from '../../../src/database/run-migrations.js';
import { createEmptyDatabase, createTestDatabase } from '../../support/test-database.js';

describe('migrations', () => {
  it('make exactly what the entities say', async () => {
    const database = await createTestDatabase();
    expect((await schemaDifference(database.dataSource)).up).toEqual([]);
    await database.close();
  });

  it('run once, when several servers start on one empty database at the same time', async () => {
    const { url, drop } = await createEmptyDatabase();
    const sources = await Promise.all([1, 2, 3].map(() => createDataSource(url, 2).initialize()));
    const ran = await Promise.all(sources.map((source) => runMigrations(source)));
    const winners = ran.filter((names) => names.length > 0);
    expect(winners).toHaveLength(1);
    expect(winners[0]).toEqual(sources[0]?.migrations.map(({ name }) => name));
    await Promise.all(sources.map((source) => source.destroy()));
    await drop();
  });

  it('can be taken back and run again', async () => {
    const { url, drop } = await createEmptyDatabase();
    const source = await createDataSource(url, 2).initialize();
    const names = await runMigrations(source);
    for (let at = 0; at < names.length; at += 1) await source.undoLastMigration();
    const tables: unknown = await source.query(
      "SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'schema_migrations'",
    );
    expect(tables).toEqual([]);
    expect(await runMigrations(source)).toEqual(names);
    await source.destroy();
    await drop();
  });

  it('leave nothing of one that fails', async () => {
    const { url, drop } = await createEmptyDatabase();
    const source = await createDataSource(url, 2).initialize();
    await source.query('CREATE TABLE runs (in_the_way int)');
    await expect(runMigrations(source)).rejects.toThrow('already exists');
    expect(await source.query("SELECT to_regclass('workflows') AS workflows")).toEqual([{ workflows: null }]);
    await source.query('DROP TABLE runs');
    expect((await runMigrations(source)).length).toBeGreaterThan(0);
    await source.destroy();
    await drop();
  });

  it('are generated as a draft that compiles, with every quote kept', () => {
    const text = migrationSource(
      'add-things',
      1_764_580_000_000,
      ["SELECT `a`, 'b', ${c}, \\d"],
      ['DROP TABLE x'],
    );
    expect(text).toContain('export class AddThings1764580000000 implements MigrationInterface');
    expect(text).toContain("await queryRunner.query(`SELECT \\`a\\`, 'b', \\${c}, \\\\d`);");
    expect(text).toContain('await queryRunner.query(`DROP TABLE x`);');
  });
});

describe('DATABASE_URL', () => {
  const settings = (databaseUrl: string) => ({ databaseUrl, dataDir: '/nowhere', database: { poolSize: 2 } });
  const log = pino({ level: 'silent' });

  it('serves, and is not taken for a database of our own', async () => {
    const { url, drop } = await createEmptyDatabase();
    const database = await openDatabase(settings(url), log);
    expect(database.address).toEqual({ url, exclusive: false });
    expect(await database.dataSource.query('SELECT count(*)::int AS n FROM runs')).toEqual([{ n: 0 }]);
    await database.close();
    await drop();
  });

  it('is refused when its encoding loses characters', async () => {
    const { url, drop } = await createEmptyDatabase({ encoding: 'LATIN1' });
    await expect(openDatabase(settings(url), log)).rejects.toThrow("the database's encoding is LATIN1");
    await drop();
  });

  it('fails the start when nobody answers', async () => {
    const directory = await mkdtemp(path.join(tmpdir(), 'nobody-'));
    const url = `postgresql://localhost/x?host=${encodeURIComponent(directory)}`;
    await expect(openDatabase(settings(url), log)).rejects.toThrow('ENOENT');
    await rm(directory, { recursive: true });
  });
});
