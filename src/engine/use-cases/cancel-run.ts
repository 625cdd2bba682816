import type { RunLeases } from '../../runs/leases/run-leases.js';
import { RunNotActiveError, RunNotFoundError } from '../../runs/run-errors.js';
import type { RunEntity } from '../../runs/run.entity.js';
import type { RunRepository } from '../../runs/run.repository.js';
import type { CloseRun } from '../execution/close-run.js';
import type { ExecutionRegistry } from '../execution/execution-registry.js';
import { LeftOnPurposeError } from '../execution/left-on-purpose.js';
import { CANCELLED } from '../execution/run-ending.js';

/**
 * Cancels a run wherever it is executed: it takes the run's lease, after which no write of the old holder is
 * accepted, so no node starts any more; then it ends the run. Throws RunNotFoundError, RunNotActiveError.
 */
export class CancelRun {
  constructor(
    private readonly leases: RunLeases,
    private readonly runs: RunRepository,
    private readonly registry: ExecutionRegistry,
    private readonly closeRun: CloseRun,
  ) {}

  async execute(runId: string): Promise<RunEntity> {
    const execution = this.registry.find(runId);
    const held = await this.leases.seize(runId);
    if (!held) {
      if (await this.runs.find(runId))
        throw new RunNotActiveError(runId, 'the run has ended or is being cancelled');
      throw new RunNotFoundError(runId);
    }
    const here = execution ?? this.registry.find(runId);
    here?.leave(new LeftOnPurposeError(CANCELLED.error));
    await here?.stopped();
    try {
      await this.closeRun.execute(held, CANCELLED);
    } catch (error) {
      // Whoever claims it next ends it, because it is marked as cancelled.
      await this.registry.release(held.lease);
      throw error;
    }
    const run = await this.runs.find(runId);
    if (!run) throw new RunNotFoundError(runId);
    return run;
  }
}
