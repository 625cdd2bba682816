import type { JournalEntry } from '../../runs/journal/journal-entry.js';
import type { RunJournal } from '../../runs/journal/run-journal.js';
import { WorkflowGraph } from '../../workflows/graph/workflow-graph.js';
import type { NodeVisit } from '../nodes/node-executor.js';
import { DagWalk } from '../walks/dag-walk.js';
import type { WalkOutcome } from '../walks/walk.js';
import type { ExecutionState } from './execution-state.js';
import { openFrame, type Frame } from './frame.js';
import { newEntry } from './step-entry.js';
import type { VisitState } from './visit-state.js';

/** An item as its iteration wants it walked. */
export type WalkedItem = Parameters<NodeVisit['walkItem']>[0];

/** The execution as the items that it walks see it. */
export interface ItemExecution {
  /** Plans what follows in the frame, and lets it begin once that is durable. */
  step(frame: Frame, entry: JournalEntry, restored: readonly VisitState[]): Promise<void>;
  /** What follows outside a frame in which nothing does. */
  goOn(fed: null): Promise<void>;
}

/** Walks the items of iterations, each in a frame of its own. */
export class ItemWalks {
  constructor(
    private readonly journal: RunJournal,
    private readonly state: ExecutionState,
    private readonly execution: ItemExecution,
  ) {}

  /** See NodeVisit.walkItem. */
  walk(parent: VisitState, item: WalkedItem): Promise<WalkOutcome> {
    return new Promise((resolve) => {
      const graph = WorkflowGraph.of(item.graph);
      const frame = openFrame({
        graph,
        walk: new DagWalk(graph),
        prefix: `${parent.ref.nodeId}.`,
        iterSeq: item.iterSeq,
        comesFrom: parent.predecessors,
        scope: item.scope,
        settled: (outcome) => {
          parent.items.delete(frame);
          resolve(outcome);
        },
      });
      parent.items.add(frame);
      item.signal.addEventListener('abort', () => this.#giveUp(frame), { once: true });
      const entry = newEntry();
      const begun = this.state.book.restore(frame, entry);
      this.execution.step(frame, entry, begun).catch((error: unknown) => this.state.fault(error));
    });
  }

  /** One of its visits failed: the others are cancelled, and those not begun never will. */
  async fail(
    frame: Frame,
    entry: JournalEntry,
    failure: { nodeId: string | null; visitUuid: string | null; error: string },
  ): Promise<void> {
    this.state.book.closeFrame(frame, 'another node failed', entry);
    await this.journal.record(entry);
    frame.settled?.({ kind: 'failure', reason: 'NODE_FAILED', ...failure });
    await this.execution.goOn(null);
  }

  /** The iteration no longer wants the item: its nodes are cancelled, and those not begun never will. */
  #giveUp(frame: Frame): void {
    if (frame.over || this.state.hasStopped()) return;
    const error = 'the item was given up';
    this.fail(frame, newEntry(), { nodeId: null, visitUuid: null, error }).catch((fault: unknown) =>
      this.state.fault(fault),
    );
  }
}
