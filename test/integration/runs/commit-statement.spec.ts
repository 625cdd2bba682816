import { commitStatement } from '../../../src/runs/journal/commit-statement.js';
import { JournalConnection } from '../../../src/runs/journal/journal-connection.js';
import { createTestDatabase } from '../../support/test-database.js';

describe('the shared commit', () => {
  it('looks runs and visits up by their keys, however many run and however many share it', async () => {
    const database = await createTestDatabase();
    const connection = new JournalConnection(database.url);
    try {
      const { text } = commitStatement(['begun', 'changed', 'recorded', 'ended']);
      const parameters = Math.max(...[...text.matchAll(/\$(\d+)/g)].map(([, number]) => Number(number)));
      const rows = await connection.query<Record<'QUERY PLAN', string>>({
        text: `EXPLAIN ${text}`,
        values: Array.from({ length: parameters }, () => '{}'),
      });
      const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
      expect([...plan.matchAll(/Index Scan using (\S+)/g)].map(([, index]) => index)).toEqual([
        'runs_pkey',
        'visits_pkey',
        'runs_pkey',
      ]);
      // A filter over a join compares each entry with each run.
      expect(plan).not.toMatch(/Join Filter|Seq Scan/);
    } finally {
      await connection.close();
      await database.close();
    }
  });
});
