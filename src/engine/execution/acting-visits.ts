import type { VisitLogEntry } from '../../events/run-event.js';
import type { NodeVisit, VisitedRun } from '../nodes/node-executor.js';
import { NodeFailure } from '../nodes/node-failure.js';
import type { WalkOutcome } from '../walks/walk.js';
import { attemptNode, type AttemptOutcome } from './attempt-node.js';
import type { ExecutionInput } from './execution-input.js';
import type { ExecutionServices } from './execution-services.js';
import type { ExecutionState } from './execution-state.js';
import type { WalkedItem } from './item-walks.js';
import { LeftOnPurposeError } from './left-on-purpose.js';
import { backOff, lostTooOften, mayRetry } from './retry-visit.js';
import { RunBudget } from './run-budget.js';
import type { RunAbort } from './run-ending.js';
import { newEntry } from './step-entry.js';
import type { VisitState } from './visit-state.js';

/** A node that does not stop that long after it was told to is left behind. */
const ABORT_GRACE_MILLIS = 1000;
const DEFAULT_TIMEOUT_SECONDS = 600;
/** PostgreSQL's largest integer. */
const MAX_COUNT = 2 ** 31 - 1;

/** The execution as the visits that act in it see it. */
export interface ActingExecution {
  /** The visit's last attempt is over: it ends, or waits. */
  settle(visit: VisitState, outcome: AttemptOutcome): Promise<void>;
  walkItem(parent: VisitState, item: WalkedItem): Promise<WalkOutcome>;
  abort(reason: RunAbort): void;
}

/** Lets visits act, attempt after attempt, and gives their nodes what these may know and do. */
export class ActingVisits {
  readonly #budget: RunBudget;
  readonly #tasks = new Set<Promise<void>>();
  #heldUntil: number;

  constructor(
    private readonly input: ExecutionInput,
    private readonly services: ExecutionServices,
    private readonly run: VisitedRun,
    private readonly state: ExecutionState,
    private readonly execution: ActingExecution,
  ) {
    this.#budget = new RunBudget(input.workflow.settings.budget, input.stored);
    this.#heldUntil = input.lease.heldUntil;
  }

  /** The lease was renewed; see RunLease.heldUntil. */
  prolong(heldUntil: number): void {
    this.#heldUntil = Math.max(this.#heldUntil, heldUntil);
  }

  launch(visit: VisitState): void {
    const task = this.#perform(visit).catch((error: unknown) => this.state.fault(error));
    this.#tasks.add(task);
    void task.finally(() => this.#tasks.delete(task));
  }

  /** Nodes that were told to stop get a moment, so that nothing of them happens after the run's end. */
  async stopped(): Promise<void> {
    if (this.state.book.activeCount === 0) return;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, ABORT_GRACE_MILLIS);
    });
    await Promise.race([Promise.allSettled(this.#tasks), late]);
    clearTimeout(timer);
  }

  /** Not awaited: the node goes on while its words are stored; their order is the journal's. */
  recordLog(visit: VisitState, entry: VisitLogEntry): void {
    if (this.state.isFinished()) return;
    this.input.journal
      .record({ events: [{ kind: 'visit-logged', visit: visit.ref, entry }] })
      .catch((error: unknown) => this.state.fault(error));
  }

  async #perform(visit: VisitState): Promise<void> {
    const lost = lostTooOften(visit);
    if (lost) return this.execution.settle(visit, { kind: 'failed', failure: lost });
    const executor = this.services.executorOf(visit.ref.nodeType);
    for (;;) {
      // A process that was stopped for a while must not act beside the one that took its runs over.
      if (performance.now() >= this.#heldUntil)
        return this.state.leave(new LeftOnPurposeError('the lease ran out'));
      const outcome: AttemptOutcome = executor
        ? await attemptNode(executor, this.#nodeVisit(visit), visit.controller)
        : { kind: 'failed', failure: new NodeFailure('NODE_TYPE', `no executor for ${visit.ref.nodeType}`) };
      if (this.state.isOver(visit)) return;
      if (!mayRetry(visit, outcome)) return this.execution.settle(visit, outcome);
      await backOff(visit, outcome.failure);
      if (this.state.isOver(visit)) return;
      Object.assign(visit, { attempt: visit.attempt + 1, resumed: false, waiting: null, wakeAt: null });
      visit.controller = new AbortController();
      const entry = newEntry();
      this.state.book.beginAttempt(visit, entry);
      await this.input.journal.record(entry);
      if (this.state.isOver(visit)) return;
    }
  }

  #nodeVisit(visit: VisitState): NodeVisit {
    const { attempt, resumed, node, ref } = visit;
    const { book } = this.state;
    return {
      run: this.run,
      node,
      visitUuid: ref.visitUuid,
      nodeId: ref.nodeId,
      iterSeq: ref.iterSeq,
      attempt,
      resumed,
      scope: visit.frame.scope,
      predecessors: book.predecessorsOf(visit),
      timeoutSeconds: node.data.timeoutSeconds ?? DEFAULT_TIMEOUT_SECONDS,
      waited: visit.waiting,
      walkItem: (item) => this.execution.walkItem(visit, item),
      log: (entry) => {
        // A node that was left behind may still talk; its visit has ended.
        if (attempt === visit.attempt && book.isActive(visit)) visit.text.add(entry);
      },
      spend: (amount) => this.#spend(visit, amount),
    };
  }

  #spend(visit: VisitState, amount: { tokens?: number; toolCalls?: number }): void {
    const tokens = countOf(amount.tokens);
    const toolCalls = countOf(amount.toolCalls);
    visit.tokens = Math.min(visit.tokens + tokens, MAX_COUNT);
    visit.toolCalls = Math.min(visit.toolCalls + toolCalls, MAX_COUNT);
    const exceeded = this.#budget.spend({ tokens, toolCalls });
    if (!exceeded) return;
    const { nodeId, visitUuid } = visit.ref;
    const error = `the run's budget is used up: ${exceeded}`;
    this.execution.abort({ statusReason: 'BUDGET', error, nodeId, visitUuid, code: 'BUDGET' });
  }
}

/** What a provider counts is not trusted: a count is a whole number from 0 to what its column holds. */
function countOf(reported = 0): number {
  return Number.isFinite(reported) ? Math.min(Math.max(0, Math.trunc(reported)), MAX_COUNT) : 0;
}
