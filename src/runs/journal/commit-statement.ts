import type { StreamProjection } from '../../events/stream-payload.js';
import type { JournalEntry, RunEnd, RunRest, VisitChange, VisitRow } from './journal-entry.js';

/**
 * The whole shared commit as one statement, which is one round trip and one transaction. `held` locks the run rows
 * whose epoch still is the writer's; every other part writes only for those, so a writer that lost its lease
 * changes nothing. Returns the ids of the held runs.
 *
 * A run that goes on is told by `completed_at`, not by `status = 'RUNNING'`: that would let PostgreSQL walk the index
 * of all running runs for each commit instead of looking the few it needs up by their key. `(… IN …) IS TRUE` keeps it
 * from making a join of the question whether a run is held: joined, a commit of n runs compares n² ids, hashed it asks n
 * times.
 */
export const COMMIT_STATEMENT = `
WITH held AS (
  SELECT r.run_id
    FROM unnest($1::text[], $2::integer[]) AS claimed(run_id, epoch)
    JOIN runs r ON r.run_id = claimed.run_id AND r.lease_epoch = claimed.epoch AND r.completed_at IS NULL
     FOR NO KEY UPDATE OF r
), begun AS (
  INSERT INTO visits (run_id, sort_order, visit_uuid, node_id, node_type, iter_seq, predecessors, skipped_because,
                      started_at, status, attempt, envelope, chosen_handle, error_code, waiting, tokens, tool_calls,
                      completed_at)
  SELECT v.run_id, v.sort_order, v.visit_uuid, v.node_id, v.node_type, v.iter_seq, v.predecessors::uuid[],
         v.skipped_because::text[], v.started_at, v.status, v.attempt, v.envelope::json, v.chosen_handle, v.error_code,
         v.waiting::json, v.tokens, v.tool_calls,
         CASE WHEN v.status NOT IN ('RUNNING', 'WAITING') THEN v.at END
    FROM unnest($3::text[], $4::integer[], $5::uuid[], $6::text[], $7::text[], $8::integer[], $9::text[],
                $10::text[], $11::timestamptz[], $12::text[], $13::integer[], $14::text[], $15::text[], $16::text[],
                $17::text[], $18::integer[], $19::integer[], $20::timestamptz[])
      AS v(run_id, sort_order, visit_uuid, node_id, node_type, iter_seq, predecessors, skipped_because, started_at,
           status, attempt, envelope, chosen_handle, error_code, waiting, tokens, tool_calls, at)
   WHERE (v.run_id IN (SELECT run_id FROM held)) IS TRUE
), changed AS (
  UPDATE visits
     SET status = c.status, attempt = c.attempt, tokens = c.tokens, tool_calls = c.tool_calls,
         envelope = c.envelope::json, chosen_handle = c.chosen_handle, error_code = c.error_code,
         waiting = c.waiting::json,
         completed_at = CASE WHEN c.status IN ('SUCCESS', 'FAILED') THEN c.at END
    FROM unnest($21::text[], $22::integer[], $23::text[], $24::integer[], $25::text[], $26::text[], $27::text[],
                $28::text[], $29::integer[], $30::integer[], $31::timestamptz[])
      AS c(run_id, sort_order, status, attempt, envelope, chosen_handle, error_code, waiting, tokens, tool_calls, at)
   WHERE visits.run_id = c.run_id AND visits.sort_order = c.sort_order
     AND (c.run_id IN (SELECT run_id FROM held)) IS TRUE
), recorded AS (
  INSERT INTO run_events (run_id, seq, type, node_id, visit_uuid, iter_seq, log_type, at, payload)
  SELECT e.run_id, e.seq, e.type, e.node_id, e.visit_uuid, e.iter_seq, e.log_type, e.at, e.payload
    FROM unnest($32::text[], $33::integer[], $34::text[], $35::text[], $36::uuid[], $37::integer[], $38::text[],
                $39::timestamptz[], $40::text[])
      AS e(run_id, seq, type, node_id, visit_uuid, iter_seq, log_type, at, payload)
   WHERE (e.run_id IN (SELECT run_id FROM held)) IS TRUE
), ended AS (
  UPDATE runs
     SET status = coalesce(f.status, runs.status), status_reason = f.status_reason, error = f.error::json,
         error_detail = f.error_detail::json, outputs = f.outputs::json, completed_at = f.completed_at,
         lease_owner = NULL,
         lease_until = CASE WHEN runs.wakes > f.wakes_seen THEN now() ELSE f.lease_until END
    FROM unnest($41::text[], $42::text[], $43::text[], $44::text[], $45::text[], $46::text[], $47::timestamptz[],
                $48::timestamptz[], $49::integer[])
      AS f(run_id, status, status_reason, error, error_detail, outputs, completed_at, lease_until, wakes_seen)
   WHERE runs.run_id = f.run_id AND (f.run_id IN (SELECT run_id FROM held)) IS TRUE
)
SELECT run_id FROM held`;

/** One entry on its way into the shared commit, with its events already serialised and numbered. */
export interface PreparedEntry {
  runId: string;
  epoch: number;
  /** ISO-8601 UTC; the time of everything in the entry. */
  at: string;
  /** Number of the first event. */
  firstSeq: number;
  projections: readonly StreamProjection[];
  entry: JournalEntry;
}

/** A visit's row as the whole commit leaves it. */
interface CommittedVisit {
  runId: string;
  sortOrder: number;
  /** When it begins within the commit. */
  begun: { visit: VisitRow; at: string } | null;
  change: VisitChange | null;
  at: string;
}

/**
 * The columns of COMMIT_STATEMENT, filled row by row and handed over as arrays. Several entries of a run may share the
 * commit, and no part of one statement sees what another part writes: of two updates of a row PostgreSQL takes any one,
 * and an update finds no row that is being inserted. So each visit and each run has one row here, as the last entry
 * leaves it.
 */
export function commitParameters(entries: readonly PreparedEntry[]): unknown[][] {
  const held = new Map<string, number>();
  const visits = new Map<string, CommittedVisit>();
  const ends = new Map<string, unknown[]>();
  const recorded = columns(9);
  for (const { runId, epoch, at, firstSeq, projections, entry } of entries) {
    held.set(runId, epoch);
    for (const visit of entry.begun ?? []) {
      const { sortOrder } = visit;
      visits.set(`${runId} ${sortOrder}`, { runId, sortOrder, begun: { visit, at }, change: null, at });
    }
    for (const change of entry.changed ?? []) {
      const key = `${runId} ${change.sortOrder}`;
      const begun = visits.get(key)?.begun ?? null;
      visits.set(key, { runId, sortOrder: change.sortOrder, begun, change, at });
    }
    projections.forEach((event, index) => {
      push(recorded, [
        runId,
        firstSeq + index,
        event.type,
        event.nodeId,
        event.visitUuid,
        event.iterSeq,
        event.logType,
        at,
        event.payload,
      ]);
    });
    if (entry.end) ends.set(runId, endRow(runId, at, entry.end));
    else if (entry.rest) ends.set(runId, restRow(runId, entry.rest));
  }
  const begun = columns(18);
  const changed = columns(11);
  const ended = columns(9);
  for (const visit of visits.values()) {
    if (visit.begun) push(begun, begunRow(visit, visit.begun));
    else if (visit.change) push(changed, changedRow(visit, visit.change));
  }
  for (const row of ends.values()) push(ended, row);
  return [[...held.keys()], [...held.values()], ...begun, ...changed, ...recorded, ...ended];
}

function begunRow(
  { runId, change, at }: CommittedVisit,
  { visit, at: startedAt }: NonNullable<CommittedVisit['begun']>,
): unknown[] {
  const left = change ?? { ...visit, attempt: 1, errorCode: null, waiting: null, tokens: 0, toolCalls: 0 };
  return [
    runId,
    visit.sortOrder,
    visit.visitUuid,
    visit.nodeId,
    visit.nodeType,
    visit.iterSeq,
    `{${visit.predecessors.join(',')}}`,
    visit.skippedBecause && `{${visit.skippedBecause.join(',')}}`,
    startedAt,
    left.status,
    left.attempt,
    json(left.envelope),
    left.chosenHandle ?? null,
    left.errorCode ?? null,
    json(left.waiting),
    left.tokens,
    left.toolCalls,
    at,
  ];
}

function changedRow({ runId, at }: CommittedVisit, change: VisitChange): unknown[] {
  return [
    runId,
    change.sortOrder,
    change.status,
    change.attempt,
    json(change.envelope),
    change.chosenHandle ?? null,
    change.errorCode ?? null,
    json(change.waiting),
    change.tokens,
    change.toolCalls,
    at,
  ];
}

function endRow(runId: string, at: string, end: RunEnd): unknown[] {
  return [
    runId,
    end.status,
    end.statusReason,
    json(end.error),
    json(end.errorDetail),
    json(end.outputs),
    at,
    null,
    null,
  ];
}

function restRow(runId: string, rest: RunRest): unknown[] {
  return [runId, null, null, null, null, null, null, rest.wakeAt.toISOString(), rest.wakesSeen];
}

function json(value: unknown): string | null {
  return value === null || value === undefined ? null : JSON.stringify(value);
}

function columns(count: number): unknown[][] {
  return Array.from({ length: count }, () => []);
}

function push(target: unknown[][], row: readonly unknown[]): void {
  row.forEach((value, column) => target[column]?.push(value));
}
