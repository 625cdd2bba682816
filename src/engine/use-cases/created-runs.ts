import { parseOrdered } from '../../common/json/parse-ordered.js';
import type { JsonObject } from '../../common/json/json-value.js';
import type { RunEntity } from '../../runs/run.entity.js';
import type { NewRun } from '../../runs/run.repository.js';

/** Together at most some megabytes. */
const MAX_RUNS = 256;
const MAX_VARIABLES_CHARACTERS = 16_384;

interface CreatedRun {
  readonly run: NewRun;
  /** As they are stored, so that the run begins with what a recovery would find. */
  readonly variables: string;
}

/**
 * The runs that this process has created last, so that starting one need not read it again. What has become of a run
 * since then is not known here: whoever goes by it has to ask the database, as the start does (see RunOpening).
 */
export class CreatedRuns {
  readonly #runs = new Map<string, CreatedRun>();

  /** For a run that is stored. */
  remember(run: NewRun): void {
    const variables = JSON.stringify(run.variables);
    if (variables.length > MAX_VARIABLES_CHARACTERS) return;
    this.#runs.set(run.runId, { run, variables });
    const [oldest] = this.#runs.keys();
    if (oldest !== undefined && this.#runs.size > MAX_RUNS) this.#runs.delete(oldest);
  }

  /** The run's row as it was created; null where that is not known any more. Forgets it. */
  take(runId: string): RunEntity | null {
    const created = this.#runs.get(runId);
    if (!created) return null;
    this.#runs.delete(runId);
    return {
      ...created.run,
      variables: parseOrdered(created.variables) as JsonObject,
      status: 'CREATED',
      statusReason: null,
      error: null,
      errorDetail: null,
      outputs: null,
      startedAt: null,
      completedAt: null,
      cancelRequestedAt: null,
      leaseOwner: null,
      leaseEpoch: 0,
      leaseUntil: null,
      wakes: 0,
      workspaceExpiredAt: null,
    };
  }
}
