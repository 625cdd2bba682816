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
  async afterEnd(run: Pick<RunEntity, 'runId' | 'parentRunId'>, graph: WorkflowGraph): Promise<void> {
    if (run.parentRunId) await this.wakeRun.execute(run.parentRunId);
    if (!graph.nodes.some(({ type }) => type === 'subWorkflow' || type === 'iteration')) return;
    for (const childRunId of await this.children.unfinished(run.runId)) {
      try {
        await this.cancelRun.execute(childRunId);
      } catch (error) {
        if (!(error instanceof RunNotActiveError)) throw error;
      }
    }
  }
}
