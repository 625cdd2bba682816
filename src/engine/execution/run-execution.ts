import { randomUUID } from 'node:crypto';
import type { JsonObject, JsonValue } from '../../common/json/json-value.js';
import type { VisitLogEntry, VisitRef } from '../../events/run-event.js';
import { failed, succeeded, type Envelope } from '../../runs/envelope.js';
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
import type { PlannedVisit, SkippedNode, Walk, WalkNode, WalkOutcome } from '../walks/walk.js';
import { attemptNode, backoffSeconds, type AttemptOutcome } from './attempt-node.js';
import type { ExecutionServices } from './execution-services.js';
import { openFrame, type Frame } from './frame.js';
import { knownVisits, restoreFrame, visitKey, type KnownVisit } from './restore-frame.js';
import { failure, success, type RunAbort } from './run-ending.js';
import { StreamedText } from './streamed-text.js';
import type { VisitState } from './visit-state.js';

/** How an execution in this process came to its end. */
export type ExecutionEnd =
  /** The run has its terminal event. */
  | { kind: 'ended' }
  /** Everything in the run waits; it may be claimed again from then on. */
  | { kind: 'rests'; wakeAt: Date }
  /** The lease was lost or given up; another execution goes on from what is durable. */
  | { kind: 'left'; reason: Error };

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
const DEFAULT_TIMEOUT_SECONDS = 600;
/** For a visit that nothing but a call can wake. */
const NEVER = new Date('9999-12-31T00:00:00Z');

/**
 * Executes one run under one lease: begins what the walk plans, lets nodes act, and makes each step durable before
 * the next begins. A step is one journal entry: the visit that ended, the visits that follow, and their events.
 */
export class RunExecution {
  readonly #root: Frame;
  readonly #active = new Map<string, VisitState>();
  readonly #tasks = new Set<Promise<void>>();
  readonly #refs = new Map<string, VisitRef>();
  readonly #known: Map<string, KnownVisit>;
  readonly #visitedRun: VisitedRun;
  #lastSortOrder = 0;
  #spent = { tokens: 0, toolCalls: 0 };
  #abort: RunAbort | null = null;
  #end: ExecutionEnd | null = null;
  #finish!: (end: ExecutionEnd) => void;
  #timers: { run: NodeJS.Timeout | null; wake: NodeJS.Timeout | null } = { run: null, wake: null };
  #wakesSeen: number;
  readonly #finished = new Promise<ExecutionEnd>((resolve) => (this.#finish = resolve));

  constructor(
    private readonly input: ExecutionInput,
    private readonly services: ExecutionServices,
  ) {
    const { run, workflow, walk, graph } = input;
    this.#wakesSeen = input.lease.wakes;
    this.#known = knownVisits(input.stored);
    const concurrency = workflow.settings.concurrency ?? services.defaultConcurrency;
    this.#root = openFrame({ graph, walk, concurrency, prefix: '', iterSeq: null, scope: {}, settled: null });
    this.#visitedRun = {
      runId: run.runId,
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

  /** Executes until the run ends, rests or is left. Never rejects for what happens inside the run. */
  async execute(): Promise<ExecutionEnd> {
    const { stored, journal, workflow, run } = this.input;
    const entry = newEntry();
    if (journal.committedSeq === 0) entry.events.push({ kind: 'run-started' });
    for (const visit of stored) {
      this.#lastSortOrder = Math.max(this.#lastSortOrder, visit.sortOrder);
      this.#spent.tokens += visit.tokens;
      this.#spent.toolCalls += visit.toolCalls;
    }
    const seconds = workflow.settings.runTimeoutSeconds;
    if (seconds !== undefined && run.startedAt) {
      const left = run.startedAt.getTime() + seconds * 1000 - Date.now();
      this.#timers.run = setTimeout(() => this.#timeOut(seconds), Math.max(0, left));
    }
    if (journal.committedSeq === 0) this.#showReused(stored, entry);
    const begun = this.#restore(this.#root, entry);
    await this.#step(this.#root, entry, begun);
    return this.#finished;
  }

  /** Ends the run as failed: no visit begins any more, running ones are told to stop. */
  abort(reason: RunAbort): void {
    // Its last step is being stored: the run has ended, only nobody knows it yet.
    if (this.#root.over) return;
    this.#abortWith(reason, newEntry());
  }

  /** Stops executing without ending the run; whoever holds it next goes on from what is durable. */
  leave(reason: Error): void {
    if (this.#end) return;
    // First: what the nodes do when they are told to stop must not count as an end of theirs.
    this.#finishWith({ kind: 'left', reason });
    for (const visit of this.#active.values()) visit.controller.abort(reason);
  }

  /** Resolves when the nodes that were told to stop have stopped, or after a moment's grace. */
  async stopped(): Promise<void> {
    await this.#stopTasks();
  }

  /** Somebody answered, a child ended: waiting visits look again. `wakes` as the lease's renewal shows them. */
  async wake(wakes: number): Promise<void> {
    this.#wakesSeen = Math.max(this.#wakesSeen, wakes);
    const waiting = [...this.#active.values()].filter(({ status }) => status === 'WAITING');
    if (waiting.length === 0 || this.#end || this.#abort) return;
    const stored = await this.services.readWaiting(this.runId);
    for (const visit of waiting) {
      visit.waiting = stored.get(visit.ref.visitUuid) ?? visit.waiting;
      if (visit.status === 'WAITING') this.#resume(visit);
    }
  }

  // --- beginning -------------------------------------------------------------------------------------------

  #restore(frame: Frame, entry: JournalEntry): VisitState[] {
    const restored = restoreFrame(
      frame,
      this.#known,
      (visit, node) => this.#refOf(frame, visit, node),
      (visit, node) =>
        frame !== this.#root && (visit.errorCode === 'CANCELLED' || this.#failStrategy(node) === 'abort'),
    );
    for (const ref of restored.refs) this.#refs.set(ref.visitUuid, ref);
    for (const skipped of restored.skip) this.#skip(frame, skipped, entry);
    return restored.unfinished.map(({ known, node, ref }) => {
      const visit = this.#newVisit(frame, node, ref, known.sortOrder, known.predecessors);
      visit.tokens = known.tokens;
      visit.toolCalls = known.toolCalls;
      visit.attempt = known.attempt;
      visit.waiting = known.waiting;
      if (known.status !== 'WAITING') {
        visit.attempt += 1;
        visit.resumed = known.status === 'RUNNING';
        entry.changed?.push(this.#change(visit, 'RUNNING'));
        entry.events.push({ kind: 'visit-started', visit: ref, ...beginning(visit) });
      }
      return visit;
    });
  }

  /** A rerun shows what it took over as it would show its own visits. */
  #showReused(stored: readonly VisitEntity[], entry: JournalEntry): void {
    for (const visit of stored) {
      const node = this.#root.graph.node(visit.nodeId);
      if (!node || !visit.envelope) continue;
      const ref = this.#refOf(this.#root, visit, node);
      const { attempt, sortOrder, predecessors, envelope } = visit;
      entry.events.push({ kind: 'visit-started', visit: ref, attempt, sortOrder, predecessors });
      entry.events.push({ kind: 'visit-ended', visit: ref, status: 'SUCCESS', envelope, errorCode: null });
    }
  }

  #refOf(frame: Frame, visit: { visitUuid: string; iterSeq: number }, node: WalkNode): VisitRef {
    return {
      visitUuid: visit.visitUuid,
      nodeId: frame.prefix + node.id,
      nodeType: node.type,
      label: node.data.label ?? node.id,
      iterSeq: visit.iterSeq,
    };
  }

  #newVisit(
    frame: Frame,
    node: WalkNode,
    ref: VisitRef,
    sortOrder: number,
    predecessors: readonly string[],
  ): VisitState {
    const visit: VisitState = {
      ref,
      node,
      frame,
      sortOrder,
      predecessors,
      status: 'RUNNING',
      attempt: 1,
      resumed: false,
      tokens: 0,
      toolCalls: 0,
      waiting: null,
      wakeAt: null,
      controller: new AbortController(),
      text: new StreamedText(this.services.streamMergeMillis, (entry) => this.#record(visit, entry)),
    };
    this.#active.set(ref.visitUuid, visit);
    frame.running += 1;
    return visit;
  }

  #plan(frame: Frame, entry: JournalEntry): VisitState[] {
    const step = frame.walk.advance();
    for (const skipped of step.skip) this.#skip(frame, skipped, entry);
    frame.queue.push(...step.begin);
    const begun: VisitState[] = [];
    while (frame.running < frame.concurrency) {
      const planned = frame.queue.shift();
      if (!planned) break;
      const visit = this.#begin(frame, planned, entry);
      if (visit) begun.push(visit);
    }
    return begun;
  }

  #begin(frame: Frame, planned: PlannedVisit, entry: JournalEntry): VisitState | null {
    const node = frame.walk.node(planned.nodeId);
    if (!node) return null;
    const ref = this.#refOf(
      frame,
      { visitUuid: randomUUID(), iterSeq: frame.iterSeq ?? planned.iterSeq },
      node,
    );
    this.#refs.set(ref.visitUuid, ref);
    const visit = this.#newVisit(frame, node, ref, (this.#lastSortOrder += 1), planned.predecessors);
    entry.begun?.push({
      sortOrder: visit.sortOrder,
      visitUuid: ref.visitUuid,
      nodeId: ref.nodeId,
      nodeType: ref.nodeType,
      iterSeq: ref.iterSeq,
      status: 'RUNNING',
      predecessors: planned.predecessors,
      skippedBecause: null,
    });
    entry.events.push({ kind: 'visit-started', visit: ref, ...beginning(visit) });
    return visit;
  }

  #skip(frame: Frame, { nodeId, because }: SkippedNode, entry: JournalEntry): void {
    const node = frame.walk.node(nodeId);
    if (!node) return;
    const ref = this.#refOf(frame, { visitUuid: randomUUID(), iterSeq: frame.iterSeq ?? 1 }, node);
    const skippedBecause = because.map((id) => frame.prefix + id);
    entry.begun?.push({
      sortOrder: (this.#lastSortOrder += 1),
      visitUuid: ref.visitUuid,
      nodeId: ref.nodeId,
      nodeType: ref.nodeType,
      iterSeq: ref.iterSeq,
      status: 'SKIPPED',
      predecessors: [],
      skippedBecause,
    });
    entry.events.push({ kind: 'node-skipped', visit: ref, skippedBecause });
    if (frame !== this.#root) {
      const begun = {
        ...ref,
        sortOrder: this.#lastSortOrder,
        predecessors: [],
        attempt: 1,
        tokens: 0,
        toolCalls: 0,
      };
      const end = { status: 'SKIPPED', envelope: null, errorCode: null, chosenHandle: null } as const;
      this.#known.set(visitKey(ref), { ...begun, ...end, waiting: null });
    }
  }

  // --- acting ----------------------------------------------------------------------------------------------

  #launch(visit: VisitState): void {
    const task = this.#perform(visit).catch((error: unknown) => this.#fault(error));
    this.#tasks.add(task);
    void task.finally(() => this.#tasks.delete(task));
  }

  async #perform(visit: VisitState): Promise<void> {
    const executor = this.services.executorOf(visit.ref.nodeType);
    for (;;) {
      const outcome: AttemptOutcome = executor
        ? await attemptNode(executor, this.#nodeVisit(visit), visit.controller)
        : { kind: 'failed', failure: new NodeFailure('NODE_TYPE', `no executor for ${visit.ref.nodeType}`) };
      if (this.#isOver(visit)) return;
      if (!this.#mayRetry(visit, outcome)) return this.#settle(visit, outcome);
      await this.#backOff(visit, outcome.failure);
      if (this.#isOver(visit)) return;
      visit.attempt += 1;
      visit.resumed = false;
      visit.controller = new AbortController();
      await this.input.journal.record({
        changed: [this.#change(visit, 'RUNNING')],
        events: [{ kind: 'visit-started', visit: visit.ref, ...beginning(visit) }],
      });
    }
  }

  #isOver(visit: VisitState): boolean {
    return this.#end !== null || this.#abort !== null || visit.frame.over;
  }

  #mayRetry(
    visit: VisitState,
    outcome: AttemptOutcome,
  ): outcome is Extract<AttemptOutcome, { kind: 'failed' }> {
    const attempts = visit.node.data.retry?.maxAttempts ?? 1;
    return outcome.kind === 'failed' && outcome.failure.retryable && visit.attempt < attempts;
  }

  async #backOff(visit: VisitState, cause: NodeFailure): Promise<void> {
    const seconds = backoffSeconds(visit.attempt, visit.node.data.retry);
    visit.text.add({
      type: 'info',
      message: `attempt ${visit.attempt} failed: ${cause.message}; the next one follows in ${seconds} s`,
    });
    visit.controller = new AbortController();
    const { signal } = visit.controller;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, seconds * 1000);
      const stop = (): void => {
        clearTimeout(timer);
        resolve();
      };
      signal.addEventListener('abort', stop, { once: true });
    });
  }

  #nodeVisit(visit: VisitState): NodeVisit {
    const { attempt, resumed } = visit;
    return {
      run: this.#visitedRun,
      node: visit.node,
      visitUuid: visit.ref.visitUuid,
      nodeId: visit.ref.nodeId,
      iterSeq: visit.ref.iterSeq,
      attempt,
      resumed,
      scope: visit.frame.scope,
      predecessors: visit.predecessors.flatMap((uuid) => {
        const ref = this.#refs.get(uuid);
        return ref ? [{ nodeId: ref.nodeId, label: ref.label }] : [];
      }),
      timeoutSeconds: visit.node.data.timeoutSeconds ?? DEFAULT_TIMEOUT_SECONDS,
      waited: visit.waiting,
      walkItem: (item) => this.#walkItem(visit, item),
      log: (entry) => {
        // A node that was left behind may still talk; its visit has ended.
        if (attempt === visit.attempt && this.#active.has(visit.ref.visitUuid)) visit.text.add(entry);
      },
      spend: (amount) => this.#spend(visit, amount),
    };
  }

  /** Not awaited: the node goes on while its words are stored; their order is the journal's. */
  #record(visit: VisitState, entry: VisitLogEntry): void {
    if (this.#end) return;
    this.input.journal
      .record({ events: [{ kind: 'visit-logged', visit: visit.ref, entry }] })
      .catch((error: unknown) => this.#fault(error));
  }

  #spend(visit: VisitState, { tokens = 0, toolCalls = 0 }: { tokens?: number; toolCalls?: number }): void {
    visit.tokens += tokens;
    visit.toolCalls += toolCalls;
    this.#spent.tokens += tokens;
    this.#spent.toolCalls += toolCalls;
    const { budget } = this.input.workflow.settings;
    const exceeded =
      budget?.tokens !== undefined && this.#spent.tokens > budget.tokens
        ? `${this.#spent.tokens} tokens of ${budget.tokens}`
        : budget?.toolCalls !== undefined && this.#spent.toolCalls > budget.toolCalls
          ? `${this.#spent.toolCalls} tool calls of ${budget.toolCalls}`
          : null;
    if (exceeded) {
      const { nodeId, visitUuid } = visit.ref;
      const error = `the run's budget is used up: ${exceeded}`;
      this.abort({ statusReason: 'BUDGET', error, nodeId, visitUuid, code: 'BUDGET' });
    }
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
        concurrency: this.#root.concurrency,
        prefix: `${parent.ref.nodeId}.`,
        iterSeq: item.iterSeq,
        scope: item.scope,
        settled: resolve,
      });
      item.signal.addEventListener('abort', () => this.#giveUpItem(frame), { once: true });
      const entry = newEntry();
      const begun = this.#restore(frame, entry);
      this.#step(frame, entry, begun).catch((error: unknown) => this.#fault(error));
    });
  }

  /** The iteration no longer wants the item: its nodes are cancelled, and those not begun never will. */
  #giveUpItem(frame: Frame): void {
    if (frame.over || this.#end || this.#abort) return;
    const entry = newEntry();
    this.#cancelVisits(frame, entry);
    const error = 'the item was given up';
    const outcome = { kind: 'failure', reason: 'NODE_FAILED', nodeId: null, visitUuid: null, error } as const;
    this.input.journal.record(entry).then(
      () => frame.settled?.(outcome),
      (failed: unknown) => this.#fault(failed),
    );
  }

  #cancelVisits(frame: Frame, entry: JournalEntry): void {
    frame.over = true;
    for (const visit of this.#active.values()) {
      if (visit.frame !== frame) continue;
      visit.controller.abort(new Error('another node of the item failed'));
      this.#active.delete(visit.ref.visitUuid);
      this.#endVisit(visit, failed('cancelled: another node failed'), 'CANCELLED', null, entry);
    }
  }

  // --- settling --------------------------------------------------------------------------------------------

  async #settle(visit: VisitState, outcome: AttemptOutcome): Promise<void> {
    const { frame } = visit;
    const entry = newEntry();
    if (outcome.kind === 'waiting') return this.#wait(visit, outcome.waitingFor, outcome.wakeAt, entry);
    const data =
      outcome.kind === 'completed'
        ? await this.services.largeOutputs.keep(this.#visitedRun, visit.ref, outcome.data)
        : null;
    if (this.#isOver(visit)) return;
    this.#active.delete(visit.ref.visitUuid);
    frame.running -= 1;
    const pending = visit.text.take();
    if (pending) entry.events.push({ kind: 'visit-logged', visit: visit.ref, entry: pending });
    if (outcome.kind === 'completed' && data) {
      const handle = outcome.handle ?? null;
      this.#endVisit(visit, succeeded(data), null, handle, entry);
      frame.scope[visit.node.id] = data;
      frame.walk.ended({ ...endedOf(visit), status: 'succeeded', handle, data, error: null });
    } else if (outcome.kind === 'failed') {
      const { message, code } = outcome.failure;
      this.#endVisit(visit, failed(message), code, null, entry);
      if (this.#failStrategy(visit.node) === 'abort') return this.#failFrame(visit, message, code, entry);
      frame.scope[visit.node.id] = null;
      frame.walk.ended({ ...endedOf(visit), status: 'failed', handle: null, data: null, error: message });
    }
    await this.#step(frame, entry, []);
  }

  #failStrategy(node: WalkNode): FailStrategy {
    // Without a plan there is nothing to go on with.
    if (node.type === 'planner') return 'abort';
    return node.data.failStrategy ?? this.input.run.failStrategy ?? 'abort';
  }

  #endVisit(
    visit: VisitState,
    envelope: Envelope,
    errorCode: string | null,
    chosenHandle: string | null,
    entry: JournalEntry,
  ): void {
    const status = envelope.status === 200 ? 'SUCCESS' : 'FAILED';
    entry.changed?.push({ ...this.#change(visit, status), envelope, errorCode, chosenHandle });
    this.#know(visit, { status, envelope, errorCode, chosenHandle });
    entry.events.push({ kind: 'visit-ended', visit: visit.ref, status, envelope, errorCode });
  }

  /** An iteration that is tried again in this process finds what its items have done. */
  #know(
    visit: VisitState,
    end: Pick<KnownVisit, 'status' | 'envelope' | 'errorCode' | 'chosenHandle'>,
  ): void {
    if (visit.frame === this.#root) return;
    const { ref, sortOrder, predecessors, attempt, tokens, toolCalls } = visit;
    const { visitUuid, nodeId, iterSeq } = ref;
    const begun = { visitUuid, nodeId, iterSeq, sortOrder, predecessors: [...predecessors], attempt };
    this.#known.set(visitKey(ref), { ...begun, tokens, toolCalls, waiting: null, ...end });
  }

  #change(visit: VisitState, status: 'RUNNING' | 'WAITING' | 'SUCCESS' | 'FAILED') {
    const { sortOrder, attempt, tokens, toolCalls } = visit;
    return { sortOrder, status, attempt, tokens, toolCalls };
  }

  /** Plans what follows in the frame, stores it together with what led to it, and only then lets it begin. */
  async #step(frame: Frame, entry: JournalEntry, restored: readonly VisitState[]): Promise<void> {
    const begun = [...restored, ...this.#plan(frame, entry)];
    let outcome: WalkOutcome | null = null;
    if (frame.running === 0 && frame.queue.length === 0) {
      outcome = frame.walk.outcome();
      frame.over = true;
      if (frame === this.#root) {
        await this.#endRun(outcome, entry);
        return;
      }
    }
    if (isEmpty(entry)) {
      for (const visit of begun) this.#launch(visit);
    } else {
      await this.input.journal.record(entry);
      if (this.#end || this.#abort) return;
      for (const visit of begun) this.#launch(visit);
    }
    if (outcome) frame.settled?.(outcome);
  }

  /** `abort` in a frame: the run fails, or the iteration's item does. */
  async #failFrame(visit: VisitState, message: string, code: string, entry: JournalEntry): Promise<void> {
    const { nodeId, visitUuid } = visit.ref;
    if (visit.frame === this.#root) {
      const statusReason = visit.node.type === 'planner' ? 'PLANNER_FAILED' : 'NODE_FAILED';
      this.#abortWith({ statusReason, error: message, nodeId, visitUuid, code }, entry);
      return;
    }
    this.#cancelVisits(visit.frame, entry);
    await this.input.journal.record(entry);
    visit.frame.settled?.({ kind: 'failure', reason: 'NODE_FAILED', nodeId, visitUuid, error: message });
  }

  // --- waiting ---------------------------------------------------------------------------------------------

  async #wait(
    visit: VisitState,
    waitingFor: JsonObject,
    wakeAt: Date | null,
    entry: JournalEntry,
  ): Promise<void> {
    const news = visit.waiting === null;
    visit.status = 'WAITING';
    visit.waiting = waitingFor;
    visit.wakeAt = wakeAt;
    if (news) {
      const pending = visit.text.take();
      if (pending) entry.events.push({ kind: 'visit-logged', visit: visit.ref, entry: pending });
      entry.changed?.push({ ...this.#change(visit, 'WAITING'), waiting: waitingFor });
      entry.events.push({ kind: 'visit-waiting', visit: visit.ref, waitingFor });
    }
    const all = [...this.#active.values()];
    if (all.every(({ status }) => status === 'WAITING') && this.#root.queue.length === 0) {
      const wake = all.reduce((first, one) => (one.wakeAt && one.wakeAt < first ? one.wakeAt : first), NEVER);
      entry.rest = { wakeAt: wake, wakesSeen: this.#wakesSeen };
      await this.input.journal.record(entry);
      this.#finishWith({ kind: 'rests', wakeAt: wake });
      return;
    }
    if (!isEmpty(entry)) await this.input.journal.record(entry);
    this.#scheduleWake();
  }

  #scheduleWake(): void {
    if (this.#timers.wake) clearTimeout(this.#timers.wake);
    const due = [...this.#active.values()].flatMap(({ status, wakeAt }) =>
      status === 'WAITING' && wakeAt ? [wakeAt.getTime()] : [],
    );
    if (due.length === 0 || this.#end) return;
    // A timer holds at most 2^31 ms; a later one is set when this one is over.
    const wait = Math.min(Math.max(0, Math.min(...due) - Date.now()), 2 ** 30);
    this.#timers.wake = setTimeout(() => {
      for (const visit of this.#active.values()) {
        if (visit.status === 'WAITING' && visit.wakeAt && visit.wakeAt.getTime() <= Date.now())
          this.#resume(visit);
      }
      this.#scheduleWake();
    }, wait);
  }

  #resume(visit: VisitState): void {
    visit.status = 'RUNNING';
    this.#launch(visit);
  }

  // --- ending ----------------------------------------------------------------------------------------------

  async #endRun(outcome: WalkOutcome, entry: JournalEntry): Promise<void> {
    const { runId } = this;
    const { name } = this.input.workflow;
    if (outcome.kind === 'failure') {
      const { reason, error, nodeId, visitUuid } = outcome;
      this.#abortWith({ statusReason: reason, error, nodeId, visitUuid, code: reason }, entry);
      return;
    }
    const files = await this.services.workspaces.listFiles(runId);
    if (this.#end) return;
    const { end, event } = success(runId, name, outcome.outputs, files);
    await this.#recordEnd({ ...entry, end, events: [...entry.events, event] });
  }

  #timeOut(seconds: number): void {
    const error = `the run took longer than ${seconds} s`;
    this.abort({ statusReason: 'RUN_TIMEOUT', error, nodeId: null, visitUuid: null, code: 'RUN_TIMEOUT' });
  }

  #abortWith(reason: RunAbort, entry: JournalEntry): void {
    if (this.#abort || this.#end) return;
    this.#abort = reason;
    for (const visit of this.#active.values()) visit.controller.abort(new Error(reason.error));
    this.#closeAfterAbort(reason, entry).catch((error: unknown) => this.#fault(error));
  }

  async #closeAfterAbort(reason: RunAbort, entry: JournalEntry): Promise<void> {
    await this.#stopTasks();
    for (const visit of this.#active.values()) {
      const pending = visit.text.take();
      if (pending) entry.events.push({ kind: 'visit-logged', visit: visit.ref, entry: pending });
      this.#endVisit(visit, failed(`cancelled: ${reason.error}`), 'CANCELLED', null, entry);
    }
    const because = reason.nodeId === null ? [] : [reason.nodeId];
    for (const nodeId of this.#root.walk.undecided()) this.#skip(this.#root, { nodeId, because }, entry);
    for (const { nodeId } of this.#root.queue) this.#skip(this.#root, { nodeId, because }, entry);
    const { end, event } = failure(this.runId, this.input.workflow.name, reason);
    entry.events.push(event);
    await this.#recordEnd({ ...entry, end });
  }

  /** Nodes that were told to stop get a moment, so that nothing of them happens after the run's end. */
  async #stopTasks(): Promise<void> {
    if (this.#active.size === 0) return;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, ABORT_GRACE_MILLIS);
    });
    await Promise.race([Promise.allSettled(this.#tasks), late]);
    clearTimeout(timer);
  }

  async #recordEnd(entry: JournalEntry): Promise<void> {
    await this.input.journal.record(entry);
    this.#finishWith({ kind: 'ended' });
  }

  #finishWith(end: ExecutionEnd): void {
    if (this.#end) return;
    this.#end = end;
    for (const timer of Object.values(this.#timers)) if (timer) clearTimeout(timer);
    for (const visit of this.#active.values()) visit.text.take();
    this.#finish(end);
  }

  /** A write that failed, or a fault of ours: nothing more can be trusted in memory, what is durable can. */
  #fault(error: unknown): void {
    this.leave(error instanceof Error ? error : new Error(String(error)));
  }
}

function newEntry(): JournalEntry {
  return { events: [], begun: [], changed: [] };
}

function isEmpty(entry: JournalEntry): boolean {
  return entry.events.length === 0 && !entry.begun?.length && !entry.changed?.length && !entry.end;
}

function beginning({ attempt, sortOrder, predecessors }: VisitState) {
  return { attempt, sortOrder, predecessors };
}

function endedOf({ ref, node }: VisitState) {
  return { visitUuid: ref.visitUuid, nodeId: node.id };
}
