import type { RunEntity } from '../../runs/run.entity.js';
import type { WorkflowGraph } from '../../workflows/index.js';
import type { CancelRun } from '../use-cases/cancel-run.js';
import type { ChildRuns } from '../use-cases/child-runs.js';
import { RunNotActiveError } from '../../runs/run-errors.js';
import type { WakeRun } from './wake-run.js';

/** What the end of a run means to its parent and its children. */
export class RunFamily {
  constructor(
    private readonly children: ChildRuns,
    private readonly wakeRun: WakeRun,
    private readonly cancelRun: CancelRun,
  ) {}

  /** Wakes the run that waits for it; cancels what it started and nobody waits for any more. */
  async afterEnd(run: Pick<RunEntity, 'runId' | 'parentRunId'>, graph: WorkflowGraph | null): Promise<void> {
    if (run.parentRunId) await this.wakeRun.execute(run.parentRunId);
    if (graph && !graph.nodes.some(({ type }) => type === 'subWorkflow' || type === 'iteration')) return;
    await this.#cancelAll(await this.children.unfinished(run.runId));
  }

  /** Cancels what a process that died between the end of a run and that of its children has left; gives how many. */
  async cancelOrphans(which: { started: boolean }): Promise<number> {
    const orphans = await this.children.orphans(which);
    await this.#cancelAll(orphans);
    return orphans.length;
  }

  async #cancelAll(runIds: readonly string[]): Promise<void> {
    for (const runId of runIds) {
      try {
        await this.cancelRun.execute(runId);
      } catch (error) {
        if (!(error instanceof RunNotActiveError)) throw error;
      }
    }
  }
}
