import type { JsonObject, JsonValue } from '../../common/json/json-value.js';
import type { VisitLogEntry } from '../../events/run-event.js';
import { failed, succeeded } from '../../runs/envelope.js';
import type { JournalEntry } from '../../runs/journal/journal-entry.js';
import type { RunJournal } from '../../runs/journal/run-journal.js';
import type { RunLease } from '../../runs/leases/run-leases.js';
import type { RunEntity } from '../../runs/run.entity.js';
import type { VisitEntity } from '../../runs/visit.entity.js';
import type { FailStrategy, GraphData } from '../../workflows/graph/graph-data.js';
import { WorkflowGraph } from '../../workflows/graph/workflow-graph.js';
import type { WorkflowDefinition } from '../../workflows/workflow-definition.js';
import type { NodeVisit, VisitedRun } from '../nodes/node-executor.js';
import { NodeFailure } from '../nodes/node-failure.js';
import { DagWalk } from '../walks/dag-walk.js';
import type { Walk, WalkNode, WalkOutcome } from '../walks/walk.js';
import { attemptNode, type AttemptOutcome } from './attempt-node.js';
import { backOff, lostTooOften, mayRetry } from './retry-visit.js';
import type { ExecutionServices } from './execution-services.js';
import { neverBegun, openFrame, type Frame } from './frame.js';
import { LeftOnPurposeError } from './left-on-purpose.js';
import { RunBudget } from './run-budget.js';
import { runDeadline, type RunDeadline } from './run-deadline.js';
import { failure, success, type RunAbort } from './run-ending.js';
import { StreamedText } from './streamed-text.js';
import { VisitBook } from './visit-book.js';
import type { VisitState } from './visit-state.js';
import { WakeClock } from './wake-clock.js';

/** How an execution in this process came to its end. */
export type ExecutionEnd =
  /** The run has its terminal event. */
  | { kind: 'ended' }
  /** Everything in the run waits; it may be claimed again from then on. */
  | { kind: 'rests'; wakeAt: Date }
  /**
   * The lease was lost or given up, or something failed; another execution goes on from what is durable. `progressed`:
   * something in the run ended or came to wait before that.
   */
  | { kind: 'left'; reason: Error; progressed: boolean };

/** What is needed to execute one run; `stored` are its visits so far. */
export interface ExecutionInput {
  run: RunEntity;
  workflow: WorkflowDefinition;
  walk: Walk;
  graph: WorkflowGraph;
  lease: RunLease;
  journal: RunJournal;
  stored: readonly VisitEntity[];
}

/** A node that does not stop that long after it was told to is left behind. */
const ABORT_GRACE_MILLIS = 1000;
/** A run with an iteration whose items all wait lies down after that long: it takes reading all its visits to go on. */
const ITEMS_REST_MILLIS = 1000;
const DEFAULT_TIMEOUT_SECONDS = 600;
/** PostgreSQL's largest integer. */
const MAX_COUNT = 2 ** 31 - 1;
/** For a visit that nothing but a call can wake. */
const NEVER = new Date('9999-12-31T00:00:00Z');

/**
 * Executes one run under one lease: begins what the walk plans, lets nodes act, and makes each step durable before
 * the next begins. A step is one journal entry: the visit that ended, the visits that follow, and their events.
 */
export class RunExecution {
  readonly #root: Frame;
  readonly #book: VisitBook;
  readonly #budget: RunBudget;
  readonly #clock = new WakeClock(() => this.#wakeDue());
  readonly #deadline: RunDeadline | null;
  readonly #runClock = new WakeClock(() => this.#checkRunTime());
  readonly #tasks = new Set<Promise<void>>();
  readonly #visitedRun: VisitedRun;
  #restTimer: NodeJS.Timeout | null = null;
  /** Its rest is being stored: what comes now is for whoever holds it next. */
  #resting = false;
  /** Wake-up calls that its waiting visits have looked after, and those it has heard of. */
  #wakesSeen: number;
  #wakesHeard: number;
  #heldUntil: number;
  #progressed = false;
  #abort: RunAbort | null = null;
  #end: ExecutionEnd | null = null;
  #finish!: (end: ExecutionEnd) => void;
  readonly #finished = new Promise<ExecutionEnd>((resolve) => (this.#finish = resolve));

  constructor(
    private readonly input: ExecutionInput,
    private readonly services: ExecutionServices,
  ) {
    const { run, workflow, walk, graph, stored, lease } = input;
    this.#wakesSeen = this.#wakesHeard = lease.wakes;
    this.#deadline = runDeadline(run, workflow.settings);
    this.#heldUntil = lease.heldUntil;
    const outermost = { prefix: '', iterSeq: null, comesFrom: [], scope: {}, settled: null };
    this.#root = openFrame({ graph, walk, ...outermost });
    this.#budget = new RunBudget(workflow.settings.budget, stored);
    this.#book = new VisitBook({
      stored,
      slots: workflow.settings.concurrency ?? services.defaultConcurrency,
      aborts: (node) => this.#failStrategy(node) === 'abort',
      textOf: (visit) =>
        new StreamedText(services.streamMergeMillis, (entry) => this.#recordLog(visit(), entry)),
    });
    this.#visitedRun = {
      runId: run.runId,
      leaseEpoch: lease.epoch,
      workflowId: run.workflowId,
      workflowName: workflow.name,
      workflowVersion: workflow.version,
      variables: run.variables,
      workspaceDir: services.workspaces.directory(run.runId),
    };
  }

  get runId(): string {
    return this.input.run.runId;
  }

  /** Its rest, which gives the lease back, is being stored. */
  get isLyingDown(): boolean {
    return this.#resting;
  }

  /** Executes until the run ends, rests or is left. Never rejects. */
  async execute(): Promise<ExecutionEnd> {
    if (!this.#end) await this.#beginOrGoOn().catch((error: unknown) => this.#fault(error));
    return this.#finished;
  }

  async #beginOrGoOn(): Promise<void> {
    const { journal } = this.input;
    const entry = newEntry();
    if (journal.committedSeq === 0) {
      entry.events.push({ kind: 'run-started' });
      this.#book.showReused(this.#root, entry);
    }
    if (this.#deadline) this.#runClock.set([this.#deadline.at]);
    await this.#step(this.#root, entry, this.#book.restore(this.#root, entry));
  }

  /** Ends the run as failed: no visit begins any more, running ones are told to stop. */
  abort(reason: RunAbort): void {
    // Its last step is being stored: the run has ended, only nobody knows it yet.
    if (this.#root.over || this.#resting) return;
    this.#abortWith(reason, newEntry());
  }

  /** The lease was renewed; see RunLease.heldUntil. */
  prolong(heldUntil: number): void {
    this.#heldUntil = Math.max(this.#heldUntil, heldUntil);
  }

  /** Stops executing without ending the run; whoever holds it next goes on from what is durable. */
  leave(reason: Error): void {
    if (this.#end) return;
    // First: what the nodes do when they are told to stop must not count as an end of theirs.
    this.#finishWith({ kind: 'left', reason, progressed: this.#progressed });
    for (const visit of this.#book.active) visit.controller.abort(reason);
  }

  /** Nodes that were told to stop get a moment, so that nothing of them happens after the run's end. */
  async stopped(): Promise<void> {
    if (this.#book.activeCount === 0) return;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, ABORT_GRACE_MILLIS);
    });
    await Promise.race([Promise.allSettled(this.#tasks), late]);
    clearTimeout(timer);
  }

  /** Somebody answered, a child ended: waiting visits look again. `wakes` as the lease's renewal shows them. */
  async wake(wakes: number): Promise<void> {
    this.#wakesHeard = Math.max(this.#wakesHeard, wakes);
    if (!this.#mayWake()) return;
    if (this.#book.active.some(({ status }) => status === 'WAITING')) {
      const stored = await this.services.readWaiting(this.runId);
      if (!this.#mayWake()) return;
      // A visit that is looking just now may miss what the call is about: it stays unseen, and no rest comes of it.
      if (!this.#book.active.some(isLooking)) this.#wakesSeen = Math.max(this.#wakesSeen, wakes);
      for (const visit of this.#book.active) {
        visit.waiting = stored.get(visit.ref.visitUuid) ?? visit.waiting;
        if (visit.status === 'WAITING') this.#resume(visit);
      }
    } else if (!this.#book.active.some(isLooking)) this.#wakesSeen = Math.max(this.#wakesSeen, wakes);
  }

  #mayWake(): boolean {
    return this.#end === null && this.#abort === null && !this.#resting;
  }

  // --- acting ----------------------------------------------------------------------------------------------

  #launch(visit: VisitState): void {
    this.#stayUp();
    const task = this.#perform(visit).catch((error: unknown) => this.#fault(error));
    this.#tasks.add(task);
    void task.finally(() => this.#tasks.delete(task));
  }

  async #perform(visit: VisitState): Promise<void> {
    const lost = lostTooOften(visit);
    if (lost) return this.#settle(visit, { kind: 'failed', failure: lost });
    const executor = this.services.executorOf(visit.ref.nodeType);
    for (;;) {
      // A process that was stopped for a while must not act beside the one that took its runs over.
      if (performance.now() >= this.#heldUntil)
        return this.leave(new LeftOnPurposeError('the lease ran out'));
      const outcome: AttemptOutcome = executor
        ? await attemptNode(executor, this.#nodeVisit(visit), visit.controller)
        : { kind: 'failed', failure: new NodeFailure('NODE_TYPE', `no executor for ${visit.ref.nodeType}`) };
      if (this.#isOver(visit)) return;
      if (!mayRetry(visit, outcome)) return this.#settle(visit, outcome);
      await backOff(visit, outcome.failure);
      if (this.#isOver(visit)) return;
      Object.assign(visit, { attempt: visit.attempt + 1, resumed: false, waiting: null, wakeAt: null });
      visit.controller = new AbortController();
      const entry = newEntry();
      this.#book.beginAttempt(visit, entry);
      await this.input.journal.record(entry);
    }
  }

  #isOver(visit: VisitState): boolean {
    return this.#end !== null || this.#abort !== null || visit.frame.over;
  }

  #nodeVisit(visit: VisitState): NodeVisit {
    const { attempt, resumed, node, ref } = visit;
    return {
      run: this.#visitedRun,
      node,
      visitUuid: ref.visitUuid,
      nodeId: ref.nodeId,
      iterSeq: ref.iterSeq,
      attempt,
      resumed,
      scope: visit.frame.scope,
      predecessors: this.#book.predecessorsOf(visit),
      timeoutSeconds: node.data.timeoutSeconds ?? DEFAULT_TIMEOUT_SECONDS,
      waited: visit.waiting,
      walkItem: (item) => this.#walkItem(visit, item),
      log: (entry) => {
        // A node that was left behind may still talk; its visit has ended.
        if (attempt === visit.attempt && this.#book.isActive(visit)) visit.text.add(entry);
      },
      spend: (amount) => this.#spend(visit, amount),
    };
  }

  /** Not awaited: the node goes on while its words are stored; their order is the journal's. */
  #recordLog(visit: VisitState, entry: VisitLogEntry): void {
    if (this.#end) return;
    this.input.journal
      .record({ events: [{ kind: 'visit-logged', visit: visit.ref, entry }] })
      .catch((error: unknown) => this.#fault(error));
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
    this.abort({ statusReason: 'BUDGET', error, nodeId, visitUuid, code: 'BUDGET' });
  }

  #walkItem(
    parent: VisitState,
    item: { graph: GraphData; iterSeq: number; scope: Record<string, JsonValue>; signal: AbortSignal },
  ): Promise<WalkOutcome> {
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
      item.signal.addEventListener('abort', () => this.#giveUpItem(frame), { once: true });
      const entry = newEntry();
      const begun = this.#book.restore(frame, entry);
      this.#step(frame, entry, begun).catch((error: unknown) => this.#fault(error));
    });
  }

  /** The iteration no longer wants the item: its nodes are cancelled, and those not begun never will. */
  #giveUpItem(frame: Frame): void {
    if (frame.over || this.#end || this.#abort) return;
    const error = 'the item was given up';
    this.#failItem(frame, newEntry(), { nodeId: null, visitUuid: null, error }).catch((fault: unknown) =>
      this.#fault(fault),
    );
  }

  async #failItem(
    frame: Frame,
    entry: JournalEntry,
    failure: { nodeId: string | null; visitUuid: string | null; error: string },
  ): Promise<void> {
    this.#book.closeFrame(frame, 'another node failed', entry);
    await this.input.journal.record(entry);
    frame.settled?.({ kind: 'failure', reason: 'NODE_FAILED', ...failure });
    await this.#goOn(null);
  }

  // --- settling --------------------------------------------------------------------------------------------

  async #settle(visit: VisitState, outcome: AttemptOutcome): Promise<void> {
    const entry = newEntry();
    if (outcome.kind === 'waiting') return this.#wait(visit, outcome.waitingFor, outcome.wakeAt, entry);
    if (outcome.kind === 'failed') return this.#settleFailure(visit, outcome.failure, entry);
    const data = await this.services.largeOutputs.keep(this.#visitedRun, visit.ref, outcome.data);
    if (this.#isOver(visit)) return;
    this.#succeed(visit, data, outcome.handle ?? null, entry);
    await this.#step(visit.frame, entry, []);
    await this.#goOn(visit.frame);
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
      if (frame !== this.#root) return this.#failItem(frame, entry, { nodeId, visitUuid, error: message });
      const statusReason =
        code === 'WORKER_LOST' ? code : node.type === 'planner' ? 'PLANNER_FAILED' : 'NODE_FAILED';
      this.#abortWith({ statusReason, error: message, nodeId, visitUuid, code }, entry);
      return;
    }
    frame.scope[node.id] = null;
    frame.walk.ended({ ...endedOf(visit), status: 'failed', handle: null, data: null, error: message });
    await this.#step(frame, entry, []);
    await this.#goOn(frame);
  }

  #failStrategy(node: WalkNode): FailStrategy {
    // Without a plan there is nothing to go on with.
    if (node.type === 'planner') return 'abort';
    return node.data.failStrategy ?? this.input.run.failStrategy ?? 'abort';
  }

  /** Plans what follows in the frame, stores it together with what led to it, and only then lets it begin. */
  async #step(frame: Frame, entry: JournalEntry, restored: readonly VisitState[]): Promise<void> {
    const begun = [...restored, ...this.#plan(frame, entry)];
    let outcome: WalkOutcome | null = null;
    if (frame.running === 0 && frame.queue.length === 0) {
      outcome = frame.walk.outcome();
      frame.over = true;
      if (frame === this.#root) return this.#endRun(outcome, entry);
    }
    if (!isEmpty(entry)) await this.input.journal.record(entry);
    this.#progressed ||= (entry.changed ?? []).some(({ status }) => status !== 'RUNNING');
    if (this.#end || this.#abort) return;
    for (const visit of begun) this.#launch(visit);
    if (outcome) frame.settled?.(outcome);
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
      if (this.#end || this.#abort) return;
      if (frame !== fed && this.#book.hungryFrames.includes(frame)) await this.#step(frame, newEntry(), []);
    }
  }

  // --- waiting ---------------------------------------------------------------------------------------------

  async #wait(
    visit: VisitState,
    waitingFor: JsonObject,
    wakeAt: Date | null,
    entry: JournalEntry,
  ): Promise<void> {
    const isNews = visit.waiting === null;
    Object.assign(visit, { status: 'WAITING', waiting: waitingFor, wakeAt });
    if (isNews) this.#book.wait(visit, entry);
    if (this.#mayRest() && !this.#book.walksItems) return this.#rest(entry);
    if (!isEmpty(entry)) await this.input.journal.record(entry);
    this.#progressed ||= isNews;
    await this.#goOn(null);
  }

  /** After a step: whoever waited for a slot begins, or, where nothing is left but waiting, the run rests. */
  async #goOn(fed: Frame | null): Promise<void> {
    await this.#feed(fed);
    if (!this.#mayWake()) return;
    if (this.#mayRest() && !this.#book.walksItems) return this.#rest(newEntry());
    this.#setClock();
    if (this.#mayRest()) this.#restTimer ??= setTimeout(() => this.#restWithItems(), ITEMS_REST_MILLIS);
  }

  /** Nothing acts: whatever is open waits, and iterations wait for items that do. */
  #mayRest(): boolean {
    const { active, anyStarved } = this.#book;
    return (
      active.length > 0 && !anyStarved && active.every((one) => one.status === 'WAITING' || hasOpenItems(one))
    );
  }

  #restWithItems(): void {
    this.#restTimer = null;
    if (this.#mayWake() && this.#mayRest())
      this.#rest(newEntry()).catch((error: unknown) => this.#fault(error));
  }

  async #rest(entry: JournalEntry): Promise<void> {
    this.#resting = true;
    this.#stopClocks();
    this.#book.restItems(entry);
    const wakeAts = this.#book.active.map(({ wakeAt }) => wakeAt ?? NEVER);
    if (this.#deadline) wakeAts.push(this.#deadline.at);
    const wakeAt = wakeAts.reduce((earliest, one) => (one < earliest ? one : earliest), NEVER);
    await this.input.journal.record({ ...entry, rest: { wakeAt, wakesSeen: this.#wakesSeen } });
    const wasCalled = this.#wakesHeard > this.#wakesSeen;
    this.#finishWith({ kind: 'rests', wakeAt: wasCalled ? new Date() : wakeAt });
    // What held the iterations in memory; whoever goes on walks their items anew.
    for (const visit of this.#book.active) visit.controller.abort(new LeftOnPurposeError('the run rests'));
  }

  #stayUp(): void {
    if (this.#restTimer) clearTimeout(this.#restTimer);
    this.#restTimer = null;
  }

  #setClock(): void {
    if (this.#end) return;
    const waiting = this.#book.active.filter(({ status }) => status === 'WAITING');
    if (waiting.length > 0) this.#clock.set(waiting.flatMap(({ wakeAt }) => wakeAt ?? []));
  }

  #wakeDue(): void {
    for (const visit of this.#book.active) {
      if (visit.status === 'WAITING' && visit.wakeAt && visit.wakeAt.getTime() <= Date.now())
        this.#resume(visit);
    }
    this.#setClock();
  }

  #resume(visit: VisitState): void {
    visit.status = 'RUNNING';
    this.#launch(visit);
  }

  // --- ending ----------------------------------------------------------------------------------------------

  async #endRun(outcome: WalkOutcome, entry: JournalEntry): Promise<void> {
    if (outcome.kind === 'failure') {
      const { reason, error, nodeId, visitUuid } = outcome;
      this.#abortWith({ statusReason: reason, error, nodeId, visitUuid, code: reason }, entry);
      return;
    }
    const files = await this.services.workspaces.listFiles(this.runId);
    if (this.#end) return;
    this.#book.cancelForgotten('the run ended', entry);
    const { end, event } = success(this.runId, this.input.workflow.name, outcome.outputs, files);
    await this.#recordEnd({ ...entry, end, events: [...entry.events, event] });
  }

  #checkRunTime(): void {
    if (!this.#deadline) return;
    if (this.#deadline.at.getTime() <= Date.now()) this.abort(this.#deadline.abort);
    else this.#runClock.set([this.#deadline.at]);
  }

  #abortWith(reason: RunAbort, entry: JournalEntry): void {
    if (this.#abort || this.#end) return;
    this.#abort = reason;
    for (const visit of this.#book.active) visit.controller.abort(new Error(reason.error));
    this.#closeAfterAbort(reason, entry).catch((error: unknown) => this.#fault(error));
  }

  async #closeAfterAbort(reason: RunAbort, entry: JournalEntry): Promise<void> {
    await this.stopped();
    for (const visit of this.#book.active) this.#book.cancel(visit, reason.error, entry);
    this.#book.cancelForgotten(reason.error, entry);
    const because = reason.nodeId === null ? [] : [reason.nodeId];
    const notBegun = neverBegun(this.#root);
    for (const nodeId of notBegun) this.#book.skip(this.#root, { nodeId, because }, entry);
    const { end, event } = failure(this.runId, this.input.workflow.name, reason);
    entry.events.push(event);
    await this.#recordEnd({ ...entry, end });
  }

  async #recordEnd(entry: JournalEntry): Promise<void> {
    await this.input.journal.record(entry);
    this.#finishWith({ kind: 'ended' });
  }

  #finishWith(end: ExecutionEnd): void {
    if (this.#end) return;
    this.#end = end;
    this.#stopClocks();
    for (const visit of this.#book.active) visit.text.take();
    this.#finish(end);
  }

  #stopClocks(): void {
    this.#stayUp();
    this.#clock.stop();
    this.#runClock.stop();
  }

  /** A write that failed, or a fault of ours: nothing more can be trusted in memory, what is durable can. */
  #fault(error: unknown): void {
    this.leave(error instanceof Error ? error : new Error(String(error)));
  }
}

/** Woken, or restored: it looks whether what it waited for has come. */
function isLooking({ status, node, waiting }: VisitState): boolean {
  return status === 'RUNNING' && waiting !== null && node.type !== 'iteration';
}

/** An iteration between the end of an item and what follows from it has more to do than wait. */
function hasOpenItems({ items }: VisitState): boolean {
  return items.size > 0 && [...items].every(({ over }) => !over);
}

/** What a provider counts is not trusted: a count is a whole number from 0 to what its column holds. */
function countOf(reported = 0): number {
  return Number.isFinite(reported) ? Math.min(Math.max(0, Math.trunc(reported)), MAX_COUNT) : 0;
}

function newEntry(): JournalEntry {
  return { events: [], begun: [], changed: [] };
}

function isEmpty(entry: JournalEntry): boolean {
  return entry.events.length === 0 && !entry.begun?.length && !entry.changed?.length && !entry.end;
}

function endedOf({ ref, node }: VisitState) {
  return { visitUuid: ref.visitUuid, nodeId: node.id };
}
