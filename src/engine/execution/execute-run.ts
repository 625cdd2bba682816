import type { RunEventStore } from '../../events/run-event-store.js';
import type { JournalWriter } from '../../runs/journal/journal-writer.js';
import type { RunLease, RunLeases } from '../../runs/leases/run-leases.js';
import type { RunEntity } from '../../runs/run.entity.js';
import type { RunRepository } from '../../runs/run.repository.js';
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
    private readonly runs: RunRepository,
    private readonly visits: VisitRepository,
    private readonly events: RunEventStore,
    private readonly workflows: CompiledWorkflows,
    private readonly journals: JournalWriter,
    private readonly registry: ExecutionRegistry,
    private readonly services: ExecutionServices,
    private readonly afterEnd: AfterEnd,
  ) {}

  /** Null when the run could not be claimed: somebody else holds it, or it has ended. */
  async execute(runId: string, held?: RunLease): Promise<ExecutionEnd | null> {
    const lease = held ?? (await this.leases.claim(runId));
    if (!lease) return null;
    await this.services.workspaces.create(runId);
    const input = await this.load(lease);
    const end = await this.registry.run(new RunExecution(input, this.services), lease);
    if (end.kind === 'ended') await this.afterEnd(input.run, input.graph);
    return end;
  }

  /** What is durable of a run whose lease this process has just taken. */
  async load(lease: RunLease): Promise<ExecutionInput> {
    const run = await this.runs.find(lease.runId);
    if (!run) throw new Error(`run ${lease.runId} is gone`);
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
