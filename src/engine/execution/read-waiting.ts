import type { DataSource } from 'typeorm';
import type { JsonObject } from '../../common/json/json-value.js';

/** What the waiting visits of a run wait for, as stored: an answer that came meanwhile stands in it. */
export async function readWaiting(
  dataSource: DataSource,
  runId: string,
): Promise<ReadonlyMap<string, JsonObject>> {
  const rows = await dataSource.query<{ visit_uuid: string; waiting: JsonObject }[]>(
    `SELECT visit_uuid, waiting FROM visits WHERE run_id = $1 AND status = 'WAITING' AND waiting IS NOT NULL`,
    [runId],
  );
  return new Map(rows.map(({ visit_uuid, waiting }) => [visit_uuid, waiting]));
}
