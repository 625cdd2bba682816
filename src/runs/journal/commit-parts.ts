import type { Column } from '../../database/given-rows.js';

interface PartDefinition {
  /** Of the rows that are given, in their order. */
  readonly columns: readonly Column[];
  /** Writes them; `given` names the rows in a FROM clause, as `given`. */
  readonly sql: (given: string) => string;
}

const STATE = [
  ['status', 'text'],
  ['attempt', 'integer'],
  ['envelope', 'payload'],
  ['chosen_handle', 'text'],
  ['error_code', 'text'],
  ['waiting', 'text'],
  ['tokens', 'integer'],
  ['tool_calls', 'integer'],
  ['at', 'timestamptz'],
] as const;

/** Keeps PostgreSQL from making a join of the question, which would compare each row with each run; see below. */
const IS_HELD = '(given.run_id IN (SELECT run_id FROM held)) IS TRUE';

/**
 * The parts of a shared commit. `held` locks the run rows whose epoch still is the writer's; every other part writes only
 * for those, so a writer that lost its lease changes nothing.
 *
 * A run that goes on is told by `completed_at`, not by `status = 'RUNNING'`: that would let PostgreSQL walk the index
 * of all running runs for each commit instead of looking the few it needs up by their key. `(… IN …) IS TRUE` keeps it
 * from making a join of the question whether a run is held: joined, a commit of n runs compares n² ids, hashed it asks n
 * times.
 */
export const PARTS = {
  held: {
    columns: [
      ['run_id', 'text'],
      ['epoch', 'integer'],
    ],
    sql: (given) => `
  SELECT r.run_id
    FROM ${given}
    JOIN runs r ON r.run_id = given.run_id AND r.lease_epoch = given.epoch AND r.completed_at IS NULL
     FOR NO KEY UPDATE OF r`,
  },
  begun: {
    columns: [
      ['run_id', 'text'],
      ['sort_order', 'integer'],
      ['visit_uuid', 'uuid'],
      ['node_id', 'text'],
      ['node_type', 'text'],
      ['iter_seq', 'integer'],
      ['predecessors', 'text'],
      ['skipped_because', 'text'],
      ['started_at', 'timestamptz'],
      ...STATE,
    ],
    sql: (given) => `
  INSERT INTO visits (run_id, sort_order, visit_uuid, node_id, node_type, iter_seq, predecessors, skipped_because,
                      started_at, status, attempt, envelope, chosen_handle, error_code, waiting, tokens, tool_calls,
                      completed_at)
  SELECT run_id, sort_order, visit_uuid, node_id, node_type, iter_seq, predecessors::uuid[], skipped_because::text[],
         started_at, status, attempt, envelope::json, chosen_handle, error_code, waiting::json, tokens, tool_calls,
         CASE WHEN status NOT IN ('RUNNING', 'WAITING') THEN at END
    FROM ${given}
   WHERE ${IS_HELD}`,
  },
  changed: {
    columns: [['run_id', 'text'], ['sort_order', 'integer'], ...STATE],
    sql: (given) => `
  UPDATE visits
     SET status = given.status, attempt = given.attempt, tokens = given.tokens, tool_calls = given.tool_calls,
         envelope = given.envelope::json, chosen_handle = given.chosen_handle, error_code = given.error_code,
         waiting = given.waiting::json,
         completed_at = CASE WHEN given.status IN ('SUCCESS', 'FAILED') THEN given.at END
    FROM ${given}
   WHERE visits.run_id = given.run_id AND visits.sort_order = given.sort_order AND ${IS_HELD}`,
  },
  recorded: {
    columns: [
      ['run_id', 'text'],
      ['seq', 'integer'],
      ['type', 'text'],
      ['node_id', 'text'],
      ['visit_uuid', 'uuid'],
      ['iter_seq', 'integer'],
      ['log_type', 'text'],
      ['at', 'timestamptz'],
      ['payload', 'payload'],
    ],
    sql: (given) => `
  INSERT INTO run_events (run_id, seq, type, node_id, visit_uuid, iter_seq, log_type, at, payload)
  SELECT run_id, seq, type, node_id, visit_uuid, iter_seq, log_type, at, payload
    FROM ${given}
   WHERE ${IS_HELD}`,
  },
  closed: {
    columns: [
      ['run_id', 'text'],
      ['status', 'text'],
      ['status_reason', 'text'],
      ['error', 'text'],
      ['error_detail', 'text'],
      ['outputs', 'payload'],
      ['completed_at', 'timestamptz'],
      ['lease_until', 'timestamptz'],
      ['wakes_seen', 'integer'],
    ],
    sql: (given) => `
  UPDATE runs
     SET status = coalesce(given.status, runs.status), status_reason = given.status_reason,
         error = given.error::json, error_detail = given.error_detail::json, outputs = given.outputs::json,
         completed_at = given.completed_at, lease_owner = NULL,
         lease_until = CASE WHEN runs.wakes > given.wakes_seen THEN now() ELSE given.lease_until END
    FROM ${given}
   WHERE runs.run_id = given.run_id AND ${IS_HELD}`,
  },
} as const satisfies Record<string, PartDefinition>;

export type CommitPart = keyof typeof PARTS;

/** In the order of a statement; `held` comes first, the others ask for it. */
export const COMMIT_PARTS = Object.keys(PARTS) as readonly CommitPart[];
