import type { DataSource } from 'typeorm';
import type { RecordedRun } from '../../test/factories/recorded-run.js';

/** Writes runs in bulk, as the journal would have written them. */
export async function storeRuns(dataSource: DataSource, runs: readonly RecordedRun[]): Promise<void> {
  await insert(
    dataSource,
    'visits',
    runs.flatMap(({ visitRows }) => visitRows),
  );
  await insert(
    dataSource,
    'run_events',
    runs.flatMap(({ eventRows }) => eventRows),
  );
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
