import { PreparedConnection } from '../../../src/database/prepared-connection.js';
import { COMMIT_PARTS, PARTS, type CommitPart } from '../../../src/runs/journal/commit-parts.js';
import type { CommitRows } from '../../../src/runs/journal/commit-rows.js';
import { commitStatement } from '../../../src/runs/journal/commit-statement.js';
import { createTestDatabase, type TestDatabase } from '../../support/test-database.js';

describe('the shared commit', () => {
  let database: TestDatabase;
  let connection: PreparedConnection;

  beforeAll(async () => {
    database = await createTestDatabase();
    connection = new PreparedConnection(database.url, 'journal');
  });
  afterAll(async () => {
    await connection.close();
    await database.close();
  });

  /** So many rows of nothing in every part. */
  const rows = (count: number): CommitRows =>
    Object.fromEntries(
      COMMIT_PARTS.map((part) => [part, Array<null[]>(count).fill(PARTS[part].columns.map(() => null))]),
    ) as Record<CommitPart, null[][]>;

  it.each([
    ['few rows, which are sent as they are', 1],
    ['many, which are sent as arrays', 40],
  ])('looks runs and visits up by their keys for %s', async (_, count) => {
    const { text } = commitStatement(rows(count));
    const plan = await connection.query<Record<'QUERY PLAN', string>>({
      text: `EXPLAIN (GENERIC_PLAN) ${text}`,
    });
    const lines = plan.map((row) => row['QUERY PLAN']).join('\n');
    expect([...lines.matchAll(/Index Scan using (\S+)/g)].map(([, index]) => index)).toEqual([
      'runs_pkey',
      'visits_pkey',
      'runs_pkey',
    ]);
    // A filter over a join compares each entry with each run.
    expect(lines).not.toMatch(/Join Filter|Seq Scan/);
  });

  it('is one statement for any large number of rows, and one for each small number', () => {
    expect(commitStatement(rows(40)).name).toBe(commitStatement(rows(3)).name);
    expect(commitStatement(rows(1)).name).not.toBe(commitStatement(rows(40)).name);
    expect(commitStatement(rows(1)).name).toBe(commitStatement(rows(1)).name);
  });

  it('leaves out what has nothing to write', () => {
    const { text, values } = commitStatement({ ...rows(0), held: [['r', 1]] });
    expect(text).not.toMatch(/INSERT|UPDATE visits|UPDATE runs/);
    expect(values).toEqual(['r', 1]);
  });
});
