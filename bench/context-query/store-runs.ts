import type { DataSource } from 'typeorm';
import type { RecordedRun } from '../../test/factories/recorded-run.js';

const RUNS_A_STATEMENT = 20;

/** Writes runs in bulk, as the journal would have written them, and lets the planner know. */
export async function storeRuns(dataSource: DataSource, runs: readonly RecordedRun[]): Promise<void> {
  for (let from = 0; from < runs.length; from += RUNS_A_STATEMENT) {
    const some = runs.slice(from, from + RUNS_A_STATEMENT);
    await insert(
      dataSource,
      'visits',
      some.flatMap(({ visitRows }) => visitRows),
    );
    await insert(
      dataSource,
      'run_events',
      some.flatMap(({ eventRows }) => eventRows),
    );
  }
  await dataSource.query('VACUUM ANALYZE visits, run_events');
}

async function insert(dataSource: DataSource, table: string, rows: readonly object[]): Promise<void> {
  const columns = rows.map((row) =>
    Object.fromEntries(
      Object.entries(row).map(([key, value]) => [key.replace(/[A-Z]/g, (c) => `_${c.toLowerCase()}`), value]),
    ),
  );
  await dataSource.query(
    `INSERT INTO ${table} SELECT * FROM json_populate_recordset(NULL::${table}, $1::json)`,
    [JSON.stringify(columns)],
  );
}
