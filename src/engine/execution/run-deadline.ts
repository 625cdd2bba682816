import type { RunEntity } from '../../runs/run.entity.js';
import type { WorkflowSettings } from '../../workflows/index.js';
import type { RunAbort } from './run-ending.js';

/** The moment from which on a run is too late, and how it then ends. */
export interface RunDeadline {
  readonly at: Date;
  readonly abort: RunAbort;
}

/** `settings.runTimeoutSeconds`, counted from the start, whatever the run does meanwhile; null: it may take for ever. */
export function runDeadline(
  { startedAt }: Pick<RunEntity, 'startedAt'>,
  { runTimeoutSeconds: seconds }: WorkflowSettings,
): RunDeadline | null {
  if (seconds === undefined || startedAt === null) return null;
  const error = `the run took longer than ${seconds} s`;
  return {
    at: new Date(startedAt.getTime() + seconds * 1000),
    abort: { statusReason: 'RUN_TIMEOUT', error, nodeId: null, visitUuid: null, code: 'RUN_TIMEOUT' },
  };
}
