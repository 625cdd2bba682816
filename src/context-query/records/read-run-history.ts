import type { DataSource } from 'typeorm';
import { toLogEntry, type LogEntry } from '../../events/log-entry.js';
import type { LogType } from '../../events/run-event.js';
import type { RunEventStore } from '../../events/run-event-store.js';
import { isTerminal, type RunStatus } from '../../runs/run-status.js';
import type { IndexedRunLimits } from '../visit-index/indexed-run.js';
import type { RunHistory } from '../visit-index/run-history.js';
import { readVisitNodes } from './visit-records.js';

const PAGE = 500;

interface VisitSize {
  visitUuid: string;
  bytes: number;
}

/**
 * Reads what the index keeps of a run: all visits, and of the newest the text that fits. The event number is read
 * first: whatever is recorded later comes again over the bus and finds its visit already there.
 */
export async function readRunHistory(
  dataSource: DataSource,
  events: RunEventStore,
  limits: IndexedRunLimits,
  runId: string,
): Promise<RunHistory> {
  const lastSeq = await events.latestSeq(runId);
  const visits = await readVisitNodes(dataSource, runId);
  const held = visits.slice(-limits.maxVisits).map(({ visitUuid }) => visitUuid);
  const logSizes = await readLogSizes(dataSource, runId, lastSeq);
  const envelopeSizes = await readEnvelopeSizes(dataSource, runId);
  let room = limits.maxRunBytes / 2;
  const fits = (bytes: number): boolean => {
    if (bytes > limits.maxTextBytes || bytes > room) return false;
    room -= bytes;
    return true;
  };
  const newestFirst = held.toReversed();
  const withLogs = newestFirst.filter((visitUuid) => fits(logSizes.get(visitUuid) ?? 0));
  const withEnvelope = newestFirst.filter((visitUuid) => fits(envelopeSizes.get(visitUuid) ?? 0));
  return {
    lastSeq,
    finished: await hasEnded(dataSource, runId),
    visits,
    envelopes: await readEnvelopes(dataSource, withEnvelope),
    logs: await readLogs(dataSource, runId, lastSeq, withLogs),
  };
}

/** Also of a run that is not there (any more). */
async function hasEnded(dataSource: DataSource, runId: string): Promise<boolean> {
  const [run] = await dataSource.query<{ status: RunStatus }[]>(`SELECT status FROM runs WHERE run_id = $1`, [
    runId,
  ]);
  return !run || isTerminal(run.status);
}

async function readLogSizes(
  dataSource: DataSource,
  runId: string,
  lastSeq: number,
): Promise<Map<string, number>> {
  const rows = await dataSource.query<VisitSize[]>(
    `SELECT visit_uuid AS "visitUuid", sum(octet_length(payload))::float8 AS bytes FROM run_events
      WHERE run_id = $1 AND seq <= $2 AND log_type IS NOT NULL GROUP BY visit_uuid`,
    [runId, lastSeq],
  );
  return new Map(rows.map(({ visitUuid, bytes }) => [visitUuid, bytes]));
}

async function readEnvelopeSizes(dataSource: DataSource, runId: string): Promise<Map<string, number>> {
  const rows = await dataSource.query<VisitSize[]>(
    `SELECT visit_uuid AS "visitUuid", octet_length(envelope::text) AS bytes FROM visits
      WHERE run_id = $1 AND envelope IS NOT NULL`,
    [runId],
  );
  return new Map(rows.map(({ visitUuid, bytes }) => [visitUuid, bytes]));
}

async function readEnvelopes(
  dataSource: DataSource,
  visitUuids: readonly string[],
): Promise<Map<string, string>> {
  const rows = await dataSource.query<{ visitUuid: string; envelope: string }[]>(
    `SELECT visit_uuid AS "visitUuid", envelope::text AS envelope FROM visits
      WHERE visit_uuid = ANY($1::uuid[]) AND envelope IS NOT NULL`,
    [visitUuids],
  );
  return new Map(rows.map(({ visitUuid, envelope }) => [visitUuid, envelope]));
}

async function readLogs(
  dataSource: DataSource,
  runId: string,
  lastSeq: number,
  visitUuids: readonly string[],
): Promise<Map<string, LogEntry[]>> {
  const logs = new Map<string, LogEntry[]>(visitUuids.map((visitUuid) => [visitUuid, []]));
  for (let afterSeq = 0, page = PAGE; page === PAGE;) {
    const rows = await dataSource.query<
      { seq: number; visitUuid: string; logType: LogType; payload: string }[]
    >(
      `SELECT seq, visit_uuid AS "visitUuid", log_type AS "logType", payload FROM run_events
        WHERE run_id = $1 AND seq > $2 AND seq <= $3 AND log_type IS NOT NULL AND visit_uuid = ANY($4::uuid[])
        ORDER BY seq LIMIT ${PAGE}`,
      [runId, afterSeq, lastSeq, visitUuids],
    );
    for (const { visitUuid, logType, payload } of rows) {
      logs.get(visitUuid)?.push(toLogEntry(logType, payload));
    }
    afterSeq = rows.at(-1)?.seq ?? afterSeq;
    page = rows.length;
  }
  return logs;
}
