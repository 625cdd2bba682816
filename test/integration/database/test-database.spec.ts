import pg from 'pg';
import { createTestDatabase } from '../../support/test-database.js';

describe('createTestDatabase', () => {
  it('gives each caller an empty database with the whole schema, and drops it', async () => {
    const [one, two] = await Promise.all([createTestDatabase(), createTestDatabase()]);
    expect(one.url).not.toBe(two.url);
    await one.dataSource.query('CREATE TABLE mine (n int)');
    expect(
      await two.dataSource.query("SELECT to_regclass('mine') AS mine, to_regclass('runs') AS runs"),
    ).toEqual([{ mine: null, runs: 'runs' }]);
    await Promise.all([one.close(), two.close()]);
    await expect(new pg.Client({ connectionString: one.url }).connect()).rejects.toThrow('does not exist');
  });

  it('fails the test that leaves a connection open', async () => {
    const database = await createTestDatabase();
    const client = new pg.Client({ connectionString: database.url, application_name: 'forgotten' });
    const ended = new Promise((resolve) => client.on('error', resolve));
    await client.connect();
    await expect(database.close()).rejects.toThrow('connections were left open:\nforgotten');
    await ended;
    await client.end();
  });
});
