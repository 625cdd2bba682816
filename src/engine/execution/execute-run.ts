import type { RunEventStore } from '../../events/run-event-store.js';
import type { JournalWriter } from '../../runs/journal/journal-writer.js';
import type { HeldRun, RunLeases } from '../../runs/leases/run-leases.js';
import type { RunEntity } from '../../runs/run.entity.js';
import type { VisitRepository } from '../../runs/visit.repository.js';
import type { WorkflowGraph } from '../../workflows/index.js';
import type { CompiledWorkflows } from './compiled-workflows.js';
import type { ExecutionRegistry } from './execution-registry.js';
import type { ExecutionServices } from './execution-services.js';
import { RunExecution, type ExecutionEnd, type ExecutionInput } from './run-execution.js';

/** Called once a run has ended, for the runs that are related to it. */
export type AfterEnd = (run: RunEntity, graph: WorkflowGraph) => Promise<void>;

/** Claims a run, loads what is durable of it, and executes it until it ends, rests or is left. */
export class ExecuteRun {
  constructor(
    private readonly leases: RunLeases,
    private readonly visits: VisitRepository,
    private readonly events: RunEventStore,
    private readonly workflows: CompiledWorkflows,
    private readonly journals: JournalWriter,
    private readonly registry: ExecutionRegistry,
    private readonly services: ExecutionServices,
    private readonly afterEnd: AfterEnd,
  ) {}

  /** Null when the run could not be claimed: somebody else holds it, or it has ended. */
  async execute(runId: string, taken?: HeldRun): Promise<ExecutionEnd | null> {
    const held = taken ?? (await this.leases.claim(runId));
    if (!held) return null;
    const input = await this.load(held);
    const end = await this.registry.run(new RunExecution(input, this.services), held.lease);
    if (end.kind === 'ended') await this.afterEnd(input.run, input.graph);
    return end;
  }

  /** What is durable of a run whose lease this process has just taken. */
  async load({ run, lease }: HeldRun): Promise<ExecutionInput> {
    const fresh = lease.epoch === 1 && run.rerunOf === null;
    const [compiled, stored, latestSeq] = await Promise.all([
      this.workflows.find(run.workflowId, run.workflowVersion),
      fresh ? [] : this.visits.ofRun(run.runId),
      fresh ? 0 : this.events.latestSeq(run.runId),
    ]);
    const journal = this.journals.open(run.runId, lease.epoch, latestSeq);
    return { run, lease, journal, stored, ...compiled, walk: compiled.newWalk() };
  }
}
