import type { RunEventStore } from '../../events/run-event-store.js';
import type { JournalWriter } from '../../runs/journal/journal-writer.js';
import { FIRST_EPOCH, type HeldRun } from '../../runs/leases/run-leases.js';
import type { VisitRepository } from '../../runs/visit.repository.js';
import type { CompiledWorkflow, CompiledWorkflows } from './compiled-workflows.js';
import type { ExecutionInput } from './execution-input.js';
import { reachable } from './reachable.js';

/** What is durable of a run whose lease this process has just taken. */
export class LoadRun {
  constructor(
    private readonly visits: VisitRepository,
    private readonly events: RunEventStore,
    private readonly workflows: CompiledWorkflows,
    private readonly journals: JournalWriter,
  ) {}

  async execute(held: HeldRun): Promise<ExecutionInput> {
    const [compiled, records] = await Promise.all([this.workflow(held), this.records(held)]);
    return { ...held, ...records, ...compiled, walk: compiled.newWalk() };
  }

  /** Rejects where the version is gone or its graph cannot be walked. */
  workflow({ run }: HeldRun): Promise<CompiledWorkflow> {
    return this.workflows.find(run.workflowId, run.workflowVersion);
  }

  async records({ run, lease }: HeldRun): Promise<Pick<ExecutionInput, 'journal' | 'stored'>> {
    // Nobody has held it before: there is nothing to read.
    const isFresh = lease.epoch === FIRST_EPOCH && run.rerunOf === null;
    const [stored, latestSeq] = isFresh
      ? [[], 0]
      : await reachable(Promise.all([this.visits.ofRun(run.runId), this.events.latestSeq(run.runId)]));
    return { stored, journal: this.journals.open(lease, latestSeq) };
  }
}
