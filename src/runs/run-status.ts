/** Statuses of a run as callers see them (decision 10). */
export type RunStatus = 'CREATED' | 'RUNNING' | 'SUCCESS' | 'FAILED';

/** Why a run is `FAILED`; null for every other status. */
export type RunStatusReason =
  | 'NODE_FAILED'
  | 'CANCELLED'
  | 'RUN_TIMEOUT'
  | 'MAX_VISITS'
  | 'BUDGET'
  | 'PLANNER_FAILED'
  | 'WORKER_LOST'
  | 'INTERNAL_ERROR';

/** Statuses of a node and of its visits. `PENDING` is never stored: it is a node without a visit. */
export type NodeStatus = 'PENDING' | 'RUNNING' | 'SUCCESS' | 'FAILED' | 'SKIPPED' | 'WAITING';

export function isTerminal(status: RunStatus): status is 'SUCCESS' | 'FAILED' {
  return status === 'SUCCESS' || status === 'FAILED';
}
