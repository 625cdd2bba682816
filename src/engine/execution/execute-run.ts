import type { HeldRun, RunLeases } from '../../runs/leases/run-leases.js';
import type { WorkflowGraph } from '../../workflows/index.js';
import type { AfterEnd } from './after-end.js';
import type { CloseRun } from './close-run.js';
import type { ExecutionEnd } from './execution-end.js';
import type { ExecutionRegistry } from './execution-registry.js';
import type { ExecutionServices } from './execution-services.js';
import type { LoadRun } from './load-run.js';
import { runDeadline } from './run-deadline.js';
import { RunExecution } from './run-execution.js';
import { CANCELLED } from './run-ending.js';

/** Claims a run, loads what is durable of it, and executes it until it ends, rests or is left. */
export class ExecuteRun {
  constructor(
    private readonly leases: RunLeases,
    private readonly loadRun: LoadRun,
    private readonly closeRun: CloseRun,
    private readonly registry: ExecutionRegistry,
    private readonly services: ExecutionServices,
    private readonly afterEnd: AfterEnd,
  ) {}

  /** Null when the run could not be claimed: somebody else holds it, or it has ended. */
  async execute(runId: string, taken?: HeldRun): Promise<ExecutionEnd | null> {
    const held = taken ?? (await this.leases.claim(runId));
    if (!held) return null;
    let graph: WorkflowGraph | null;
    try {
      if (held.run.cancelRequestedAt) {
        // Whoever was about to end it died; it may not even have been started.
        await this.closeRun.execute(held, CANCELLED);
        return { kind: 'ended' };
      }
      const input = await this.loadRun.execute(held);
      ({ graph } = input);
      const deadline = runDeadline(input.run, input.workflow.settings);
      if (deadline && deadline.at.getTime() <= Date.now()) {
        // It became too late while the run rested, or while nobody held it.
        await this.closeRun.execute(held, deadline.abort);
        return { kind: 'ended' };
      }
      const end = await this.registry.run(new RunExecution(input, this.services), held.lease);
      if (end.kind !== 'ended') return end;
    } catch (error) {
      await this.registry.release(held.lease);
      const reason = error instanceof Error ? error : new Error(String(error));
      return { kind: 'left', reason, progressed: false };
    }
    await this.afterEnd(held.run, graph);
    return { kind: 'ended' };
  }
}
