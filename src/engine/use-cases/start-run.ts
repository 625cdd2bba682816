import type { EntityManager } from 'typeorm';
import type { RunLeases } from '../../runs/leases/run-leases.js';
import { RunAlreadyStartedError, RunNotFoundError } from '../../runs/run-errors.js';
import type { RunRepository } from '../../runs/run.repository.js';
import type { RunDispatcher } from '../dispatch/run-dispatcher.js';
import type { CreatedRuns } from './created-runs.js';

/**
 * Starts a run exactly once. Throws RunNotFoundError, RunAlreadyStartedError, and what `admit` throws to keep it from
 * starting (limits of the caller). One commit.
 */
export class StartRun {
  constructor(
    private readonly leases: RunLeases,
    private readonly runs: RunRepository,
    private readonly dispatcher: RunDispatcher,
    private readonly created: CreatedRuns,
  ) {}

  async execute(
    runId: string,
    admit?: (manager: EntityManager) => Promise<void>,
  ): Promise<{ startedAt: Date }> {
    const opened = admit ? null : await this.#open(runId);
    if (opened) return opened;
    const started = await this.leases.start(runId, this.dispatcher.hasRoom, admit);
    if (!started) {
      if (await this.runs.find(runId)) throw new RunAlreadyStartedError(runId);
      throw new RunNotFoundError(runId);
    }
    const { run, lease } = started;
    this.dispatcher.dispatch(runId, lease ? { run, lease } : undefined);
    return { startedAt: run.startedAt ?? new Date() };
  }

  /** Null where the start did not come about with the run's first entry, whatever the reason: it is tried by itself. */
  async #open(runId: string): Promise<{ startedAt: Date } | null> {
    if (!this.dispatcher.hasRoom) return null;
    const held = await this.leases.open(runId, this.created.take(runId));
    if (!held || !(await this.dispatcher.open(held))) return null;
    return { startedAt: held.lease.opening.startedAt };
  }
}
