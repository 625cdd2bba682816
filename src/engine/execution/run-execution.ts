import type { JsonObject } from '../../common/json/json-value.js';
import { failed, succeeded } from '../../runs/envelope.js';
import type { JournalEntry } from '../../runs/journal/journal-entry.js';
import type { FailStrategy } from '../../workflows/graph/graph-data.js';
import type { VisitedRun } from '../nodes/node-executor.js';
import type { NodeFailure } from '../nodes/node-failure.js';
import type { WalkNode, WalkOutcome } from '../walks/walk.js';
import { ActingVisits } from './acting-visits.js';
import type { AttemptOutcome } from './attempt-node.js';
import type { ExecutionEnd } from './execution-end.js';
import type { ExecutionInput } from './execution-input.js';
import type { ExecutionServices } from './execution-services.js';
import { ExecutionState } from './execution-state.js';
import { openFrame, type Frame } from './frame.js';
import { ItemWalks } from './item-walks.js';
import { RunClosing } from './run-closing.js';
import { runDeadline } from './run-deadline.js';
import type { RunAbort } from './run-ending.js';
import { isEmpty, newEntry } from './step-entry.js';
import { StreamedText } from './streamed-text.js';
import { VisitBook } from './visit-book.js';
import type { VisitState } from './visit-state.js';
import { WaitingVisits } from './waiting-visits.js';

/**
 * Executes one run under one lease: begins what the walk plans, lets nodes act, and makes each step durable before
 * the next begins. A step is one journal entry: the visit that ended, the visits that follow, and their events.
 */
export class RunExecution {
  readonly #visitedRun: VisitedRun;
  readonly #book: VisitBook;
  readonly #state: ExecutionState;
  readonly #acting: ActingVisits;
  readonly #items: ItemWalks;
  readonly #waiting: WaitingVisits;
  readonly #closing: RunClosing;

  constructor(
    private readonly input: ExecutionInput,
    private readonly services: ExecutionServices,
  ) {
    const { run, workflow, walk, graph, journal, stored } = input;
    const outermost = { prefix: '', iterSeq: null, comesFrom: [], scope: {}, settled: null };
    const deadline = runDeadline(run, workflow.settings);
    this.#visitedRun = visitedRun(input, services);
    this.#book = new VisitBook({
      stored,
      slots: workflow.settings.concurrency ?? services.defaultConcurrency,
      aborts: (node) => this.#failStrategy(node) === 'abort',
      textOf: (visit) =>
        new StreamedText(services.streamMergeMillis, (entry) => this.#acting.recordLog(visit(), entry)),
    });
    this.#state = new ExecutionState(openFrame({ graph, walk, ...outermost }), this.#book, () => {
      this.#waiting.stopClocks();
      this.#closing.stopClock();
    });
    this.#acting = new ActingVisits(input, services, this.#visitedRun, this.#state, {
      settle: (visit, outcome) => this.#settle(visit, outcome),
      walkItem: (parent, item) => this.#items.walk(parent, item),
      abort: (reason) => this.abort(reason),
    });
    this.#items = new ItemWalks(journal, this.#state, {
      step: (frame, entry, restored) => this.#step(frame, entry, restored),
      goOn: (fed) => this.#waiting.goOn(fed),
    });
    this.#waiting = new WaitingVisits(input, services, deadline, this.#state, {
      feed: (fed) => this.#feed(fed),
      launch: (visit) => this.#launch(visit),
    });
    this.#closing = new RunClosing(input, services, deadline, this.#state, this.#acting);
  }

  get runId(): string {
    return this.input.run.runId;
  }

  /** Its rest, which gives the lease back, is being stored. */
  get isLyingDown(): boolean {
    return this.#state.isLyingDown();
  }

  /** Executes until the run ends, rests or is left. Never rejects. */
  async execute(): Promise<ExecutionEnd> {
    if (!this.#state.isFinished())
      await this.#beginOrGoOn().catch((error: unknown) => this.#state.fault(error));
    return this.#state.finished;
  }

  /** Ends the run as failed: no visit begins any more, running ones are told to stop. */
  abort(reason: RunAbort): void {
    this.#closing.abort(reason);
  }

  /** The lease was renewed; see RunLease.heldUntil. */
  prolong(heldUntil: number): void {
    this.#acting.prolong(heldUntil);
  }

  /** Stops executing without ending the run; whoever holds it next goes on from what is durable. */
  leave(reason: Error): void {
    this.#state.leave(reason);
  }

  /** Nodes that were told to stop get a moment, so that nothing of them happens after the run's end. */
  stopped(): Promise<void> {
    return this.#acting.stopped();
  }

  /** Somebody answered, a child ended: waiting visits look again. `wakes` as the lease's renewal shows them. */
  wake(wakes: number): Promise<void> {
    return this.#waiting.wake(wakes);
  }

  async #beginOrGoOn(): Promise<void> {
    const { root } = this.#state;
    const entry = newEntry();
    if (this.input.journal.committedSeq === 0) {
      entry.events.push({ kind: 'run-started' });
      this.#book.showReused(root, entry);
    }
    this.#closing.startClock();
    await this.#step(root, entry, this.#book.restore(root, entry));
  }

  // --- planning --------------------------------------------------------------------------------------------

  /** Plans what follows in the frame, stores it together with what led to it, and only then lets it begin. */
  async #step(frame: Frame, entry: JournalEntry, restored: readonly VisitState[]): Promise<void> {
    const begun = [...restored, ...this.#plan(frame, entry)];
    let outcome: WalkOutcome | null = null;
    if (frame.running === 0 && frame.queue.length === 0) {
      outcome = frame.walk.outcome();
      frame.over = true;
      if (frame === this.#state.root) return this.#closing.endRun(outcome, entry);
    }
    if (!isEmpty(entry)) await this.input.journal.record(entry);
    this.#state.progressed ||= (entry.changed ?? []).some(({ status }) => status !== 'RUNNING');
    if (this.#state.hasStopped()) return;
    // Its frame may have been closed, and the visit with it, while the entry was being stored.
    for (const visit of begun) if (this.#book.isActive(visit)) this.#launch(visit);
    if (outcome) frame.settled?.(outcome);
  }

  #launch(visit: VisitState): void {
    this.#waiting.stayUp();
    this.#acting.launch(visit);
  }

  /** Begins what follows; gives the visits that have to act. */
  #plan(frame: Frame, entry: JournalEntry): VisitState[] {
    const begun = this.#book.plan(frame, entry);
    const acting = begun.filter((visit) => !this.#endKnown(visit, entry));
    return acting.length === begun.length ? acting : [...acting, ...this.#plan(frame, entry)];
  }

  /**
   * A visit whose output is known (the run's input) ends in the entry it begins in, which spares every run a commit;
   * one too large for the database acts like any other.
   */
  #endKnown(visit: VisitState, entry: JournalEntry): boolean {
    const known = this.services.executorOf(visit.ref.nodeType)?.known?.(this.#visitedRun);
    if (!known || !this.services.largeOutputs.fits(known)) return false;
    this.#succeed(visit, known, null, entry);
    return true;
  }

  /** A slot may have become free that another frame waits for. */
  async #feed(fed: Frame | null): Promise<void> {
    if (!this.#book.anyStarved) return;
    for (const frame of this.#book.hungryFrames) {
      if (this.#state.hasStopped()) return;
      if (frame !== fed && this.#book.hungryFrames.includes(frame)) await this.#step(frame, newEntry(), []);
    }
  }

  // --- settling --------------------------------------------------------------------------------------------

  async #settle(visit: VisitState, outcome: AttemptOutcome): Promise<void> {
    const entry = newEntry();
    if (outcome.kind === 'waiting')
      return this.#waiting.wait(visit, outcome.waitingFor, outcome.wakeAt, entry);
    if (outcome.kind === 'failed') return this.#settleFailure(visit, outcome.failure, entry);
    const data = await this.services.largeOutputs.keep(this.#visitedRun, visit.ref, outcome.data);
    if (this.#state.isOver(visit)) return;
    this.#succeed(visit, data, outcome.handle ?? null, entry);
    await this.#step(visit.frame, entry, []);
    await this.#waiting.goOn(visit.frame);
  }

  #succeed(visit: VisitState, data: JsonObject, handle: string | null, entry: JournalEntry): void {
    const { frame, node } = visit;
    this.#book.end(visit, { envelope: succeeded(data), errorCode: null, chosenHandle: handle }, entry);
    frame.scope[node.id] = data;
    frame.walk.ended({ ...endedOf(visit), status: 'succeeded', handle, data, error: null });
  }

  /** `abort`: the run fails, or the iteration's item does. `skip`: downstream goes on and sees null. */
  async #settleFailure(
    visit: VisitState,
    { message, code }: NodeFailure,
    entry: JournalEntry,
  ): Promise<void> {
    const { frame, node } = visit;
    this.#book.end(visit, { envelope: failed(message), errorCode: code, chosenHandle: null }, entry);
    if (this.#failStrategy(node) === 'abort') {
      const { nodeId, visitUuid } = visit.ref;
      if (frame !== this.#state.root)
        return this.#items.fail(frame, entry, { nodeId, visitUuid, error: message });
      const statusReason =
        code === 'WORKER_LOST' ? code : node.type === 'planner' ? 'PLANNER_FAILED' : 'NODE_FAILED';
      this.#closing.abortWith({ statusReason, error: message, nodeId, visitUuid, code }, entry);
      return;
    }
    frame.scope[node.id] = null;
    frame.walk.ended({ ...endedOf(visit), status: 'failed', handle: null, data: null, error: message });
    await this.#step(frame, entry, []);
    await this.#waiting.goOn(frame);
  }

  #failStrategy(node: WalkNode): FailStrategy {
    // Without a plan there is nothing to go on with.
    if (node.type === 'planner') return 'abort';
    return node.data.failStrategy ?? this.input.run.failStrategy ?? 'abort';
  }
}

function visitedRun({ run, lease, workflow }: ExecutionInput, { workspaces }: ExecutionServices): VisitedRun {
  return {
    runId: run.runId,
    leaseEpoch: lease.epoch,
    workflowId: run.workflowId,
    workflowName: workflow.name,
    workflowVersion: workflow.version,
    variables: run.variables,
    workspaceDir: workspaces.directory(run.runId),
  };
}

function endedOf({ ref, node }: VisitState) {
  return { visitUuid: ref.visitUuid, nodeId: node.id };
}
