import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import type { RunLeases } from '../../runs/leases/run-leases.js';
import type { CloseRun } from './close-run.js';
import type { ExecutionEnd } from './execution-end.js';
import { isInternalFault } from './left-on-purpose.js';

/** Faults of ours in a row, without anything having come of the run in between, after which it is given up. */
const MAX_FAULTS = 3;

/**
 * Keeps a run that fails for a fault of ours, again and again, from being begun for ever: after the third time it
 * ends as `INTERNAL_ERROR`, whose cause stands in the log under the reference that its message names.
 */
export class GiveUpRun {
  readonly #faults = new Map<string, number>();

  constructor(
    private readonly leases: Pick<RunLeases, 'claim'>,
    private readonly closeRun: CloseRun,
    private readonly logger: Logger,
  ) {}

  /** Counts how an execution of the run ended (null: it was not this process's), and ends the run when it is time. */
  async afterExecution(runId: string, end: ExecutionEnd | null): Promise<void> {
    if (end?.kind === 'left' && !isInternalFault(end.reason)) return;
    if (end?.kind !== 'left' || end.progressed) {
      this.#faults.delete(runId);
      return;
    }
    const faults = (this.#faults.get(runId) ?? 0) + 1;
    this.#faults.set(runId, faults);
    if (faults < MAX_FAULTS) return;
    const held = await this.leases.claim(runId);
    // Somebody else has taken it, or the last lease could not be given back and has to run out first.
    if (!held) return;
    const reference = randomUUID();
    this.logger.error({ runId, err: end.reason, reference }, 'the run is given up after faults in a row');
    const error = `internal error; correlation id ${reference}`;
    const nothing = { nodeId: null, visitUuid: null };
    await this.closeRun.execute(held, {
      statusReason: 'INTERNAL_ERROR',
      code: 'INTERNAL_ERROR',
      error,
      ...nothing,
    });
    this.#faults.delete(runId);
  }
}
