/** `?` is a parameter; parameters are numbered in the order in which they stand. */
const HELD = `
  SELECT r.run_id
    FROM unnest(?::text[], ?::integer[]) AS claimed(run_id, epoch)
    JOIN runs r ON r.run_id = claimed.run_id AND r.lease_epoch = claimed.epoch AND r.completed_at IS NULL
     FOR NO KEY UPDATE OF r`;

const PARTS = {
  begun: `
  INSERT INTO visits (run_id, sort_order, visit_uuid, node_id, node_type, iter_seq, predecessors, skipped_because,
                      started_at, status, attempt, envelope, chosen_handle, error_code, waiting, tokens, tool_calls,
                      completed_at)
  SELECT v.run_id, v.sort_order, v.visit_uuid, v.node_id, v.node_type, v.iter_seq, v.predecessors::uuid[],
         v.skipped_because::text[], v.started_at, v.status, v.attempt, v.envelope::json, v.chosen_handle, v.error_code,
         v.waiting::json, v.tokens, v.tool_calls,
         CASE WHEN v.status NOT IN ('RUNNING', 'WAITING') THEN v.at END
    FROM unnest(?::text[], ?::integer[], ?::uuid[], ?::text[], ?::text[], ?::integer[], ?::text[],
                ?::text[], ?::timestamptz[], ?::text[], ?::integer[], ?::text[], ?::text[], ?::text[],
                ?::text[], ?::integer[], ?::integer[], ?::timestamptz[])
      AS v(run_id, sort_order, visit_uuid, node_id, node_type, iter_seq, predecessors, skipped_because, started_at,
           status, attempt, envelope, chosen_handle, error_code, waiting, tokens, tool_calls, at)
   WHERE (v.run_id IN (SELECT run_id FROM held)) IS TRUE`,
  changed: `
  UPDATE visits
     SET status = c.status, attempt = c.attempt, tokens = c.tokens, tool_calls = c.tool_calls,
         envelope = c.envelope::json, chosen_handle = c.chosen_handle, error_code = c.error_code,
         waiting = c.waiting::json,
         completed_at = CASE WHEN c.status IN ('SUCCESS', 'FAILED') THEN c.at END
    FROM unnest(?::text[], ?::integer[], ?::text[], ?::integer[], ?::text[], ?::text[], ?::text[],
                ?::text[], ?::integer[], ?::integer[], ?::timestamptz[])
      AS c(run_id, sort_order, status, attempt, envelope, chosen_handle, error_code, waiting, tokens, tool_calls, at)
   WHERE visits.run_id = c.run_id AND visits.sort_order = c.sort_order
     AND (c.run_id IN (SELECT run_id FROM held)) IS TRUE`,
  recorded: `
  INSERT INTO run_events (run_id, seq, type, node_id, visit_uuid, iter_seq, log_type, at, payload)
  SELECT e.run_id, e.seq, e.type, e.node_id, e.visit_uuid, e.iter_seq, e.log_type, e.at, e.payload
    FROM unnest(?::text[], ?::integer[], ?::text[], ?::text[], ?::uuid[], ?::integer[], ?::text[],
                ?::timestamptz[], ?::text[])
      AS e(run_id, seq, type, node_id, visit_uuid, iter_seq, log_type, at, payload)
   WHERE (e.run_id IN (SELECT run_id FROM held)) IS TRUE`,
  ended: `
  UPDATE runs
     SET status = coalesce(f.status, runs.status), status_reason = f.status_reason, error = f.error::json,
         error_detail = f.error_detail::json, outputs = f.outputs::json, completed_at = f.completed_at,
         lease_owner = NULL,
         lease_until = CASE WHEN runs.wakes > f.wakes_seen THEN now() ELSE f.lease_until END
    FROM unnest(?::text[], ?::text[], ?::text[], ?::text[], ?::text[], ?::text[], ?::timestamptz[],
                ?::timestamptz[], ?::integer[])
      AS f(run_id, status, status_reason, error, error_detail, outputs, completed_at, lease_until, wakes_seen)
   WHERE runs.run_id = f.run_id AND (f.run_id IN (SELECT run_id FROM held)) IS TRUE`,
};

/** What a commit may write beside taking its runs' locks. */
export type CommitPart = keyof typeof PARTS;

export interface CommitStatement {
  /** For the connection, which prepares each statement once. */
  readonly name: string;
  readonly text: string;
}

const statements = new Map<string, CommitStatement>();

/**
 * The whole shared commit as one statement, which is one round trip and one transaction. `held` locks the run rows
 * whose epoch still is the writer's; every other part writes only for those, so a writer that lost its lease
 * changes nothing. Returns the ids of the held runs. Parts with nothing to write are left out: an empty one still costs
 * its columns and its set-up.
 *
 * A run that goes on is told by `completed_at`, not by `status = 'RUNNING'`: that would let PostgreSQL walk the index
 * of all running runs for each commit instead of looking the few it needs up by their key. `(… IN …) IS TRUE` keeps it
 * from making a join of the question whether a run is held: joined, a commit of n runs compares n² ids, hashed it asks n
 * times.
 */
export function commitStatement(parts: readonly CommitPart[]): CommitStatement {
  const name = ['journal', ...parts].join('-');
  const known = statements.get(name);
  if (known) return known;
  const writes = parts.map((part) => `, ${part} AS (${PARTS[part]})`);
  const sql = `WITH held AS (${HELD})${writes.join('')}\nSELECT run_id FROM held`;
  let parameters = 0;
  const text = sql.replaceAll('?', () => `$${(parameters += 1)}`);
  const statement = { name, text };
  statements.set(name, statement);
  return statement;
}
