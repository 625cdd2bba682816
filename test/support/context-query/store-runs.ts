import type { DataSource, EntityTarget, ObjectLiteral, QueryDeepPartialEntity } from 'typeorm';
import { RunEventEntity } from '../../../src/events/run-event.entity.js';
import { VisitEntity } from '../../../src/runs/visit.entity.js';
import type { RecordedRun } from '../../factories/recorded-run.js';

/** Rows of one statement; PostgreSQL takes 65,535 parameters. */
const CHUNK = 1_000;

/** Writes what the journal would have written of runs; visits are stored as they are in the end. */
export async function storeRuns(dataSource: DataSource, ...runs: RecordedRun[]): Promise<void> {
  await insert(
    dataSource,
    VisitEntity,
    runs.flatMap(({ visitRows }) => visitRows),
  );
  await insert(
    dataSource,
    RunEventEntity,
    runs.flatMap(({ eventRows }) => eventRows),
  );
}

async function insert<T extends ObjectLiteral>(
  dataSource: DataSource,
  entity: EntityTarget<T>,
  rows: readonly T[],
): Promise<void> {
  for (let from = 0; from < rows.length; from += CHUNK) {
    const chunk = rows.slice(from, from + CHUNK) as QueryDeepPartialEntity<T>[];
    await dataSource.getRepository(entity).insert(chunk);
  }
}
