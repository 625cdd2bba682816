import type { Column } from '../../database/given-rows.js';

interface PartDefinition {
  /** Of the rows that are given, in their order. */
  readonly columns: readonly Column[];
  /** Writes them. `given`: the rows, as an item of its FROM clause; `isHeld`: whether a row's run is held. */
  readonly sql: (given: string, isHeld: string) => string;
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

/**
 * The parts of a shared commit. `held` locks the run rows whose epoch still is the writer's; every other part writes only
 * for those, so a writer that lost its lease changes nothing. Epoch 0 asks for a run that nobody has started yet.
 *
 * A run that goes on is told by `completed_at`, not by `status = 'RUNNING'`: that would let PostgreSQL walk the index
 * of all running runs for each commit instead of looking the few it needs up by their key.
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
     AND (given.epoch > 0 OR r.status = 'CREATED')
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
    sql: (given, isHeld) => `
  INSERT INTO visits (run_id, sort_order, visit_uuid, node_id, node_type, iter_seq, predecessors, skipped_because,
                      started_at, status, attempt, envelope, chosen_handle, error_code, waiting, tokens, tool_calls,
                      completed_at)
  SELECT run_id, sort_order, visit_uuid, node_id, node_type, iter_seq, predecessors::uuid[], skipped_because::text[],
         started_at, status, attempt, envelope::json, chosen_handle, error_code, waiting::json, tokens, tool_calls,
         CASE WHEN status NOT IN ('RUNNING', 'WAITING') THEN at END
    FROM ${given}
   WHERE ${isHeld}`,
  },
  changed: {
    columns: [['run_id', 'text'], ['sort_order', 'integer'], ...STATE],
    sql: (given, isHeld) => `
  UPDATE visits
     SET status = given.status, attempt = given.attempt, tokens = given.tokens, tool_calls = given.tool_calls,
         envelope = given.envelope::json, chosen_handle = given.chosen_handle, error_code = given.error_code,
         waiting = given.waiting::json,
         completed_at = CASE WHEN given.status IN ('SUCCESS', 'FAILED') THEN given.at END
    FROM ${given}
   WHERE visits.run_id = given.run_id AND visits.sort_order = given.sort_order AND ${isHeld}`,
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
    sql: (given, isHeld) => `
  INSERT INTO run_events (run_id, seq, type, node_id, visit_uuid, iter_seq, log_type, at, payload)
  SELECT run_id, seq, type, node_id, visit_uuid, iter_seq, log_type, at, payload
    FROM ${given}
   WHERE ${isHeld}`,
  },
  runs: {
    columns: [
      ['run_id', 'text'],
      ['status', 'text'],
      ['status_reason', 'text'],
      ['error', 'text'],
      ['error_detail', 'text'],
      ['outputs', 'payload'],
      ['completed_at', 'timestamptz'],
      ['started_at', 'timestamptz'],
      ['lease_epoch', 'integer'],
      ['lease_owner', 'text'],
      ['lease_seconds', 'integer'],
      ['lease_until', 'timestamptz'],
      ['wakes_seen', 'integer'],
    ],
    sql: (given, isHeld) => `
  UPDATE runs
     SET status = coalesce(given.status, runs.status), status_reason = given.status_reason,
         error = given.error::json, error_detail = given.error_detail::json, outputs = given.outputs::json,
         completed_at = given.completed_at, started_at = coalesce(given.started_at, runs.started_at),
         lease_epoch = coalesce(given.lease_epoch, runs.lease_epoch), lease_owner = given.lease_owner,
         lease_until = CASE WHEN given.lease_owner IS NOT NULL
                              THEN now() + make_interval(secs => given.lease_seconds)
                            WHEN runs.wakes > given.wakes_seen THEN now()
                            ELSE given.lease_until END
    FROM ${given}
   WHERE runs.run_id = given.run_id AND ${isHeld}`,
  },
} as const satisfies Record<string, PartDefinition>;

export type CommitPart = keyof typeof PARTS;

/** In the order of a statement; `held` comes first, the others ask for it. */
export const COMMIT_PARTS = Object.keys(PARTS) as readonly CommitPart[];
