import { Logger } from '@nestjs/common';
import type { RunEventBus } from '../../events/run-event-bus.js';
import type { RecordedRunEvent } from '../../events/run-event.js';
import type { LogEntry } from '../../events/log-entry.js';
import type { Lineage } from '../paths/visit-node.js';
import { IndexedRun, type IndexedRunLimits } from './indexed-run.js';
import type { RunHistory } from './run-history.js';

export interface VisitIndexSettings extends IndexedRunLimits {
  /** How long a run stays after its end. */
  readonly retentionMillis: number;
  /** Estimated memory of all runs; beyond, runs that ended go first, the longest ended before the others. */
  readonly maxBytes: number;
}

/** Reads a run's past; rejects when the database cannot be asked. */
export type ReadRunHistory = (runId: string) => Promise<RunHistory>;

/** Events that wait while their run's past is read; the hole that more of them leave is found like any other. */
const MAX_PENDING_EVENTS = 10_000;
const SWEEP_MILLIS = 30_000;

/**
 * The visits of this process's runs in memory (internal-context-query.md §1.2, §9.5), fed by nothing but the event
 * bus. A run that goes on after a restart, or comes back from another process, is read from the database once.
 * What the index does not hold it does not answer: `undefined` means that the database must.
 */
export class VisitIndex {
  readonly #settings: VisitIndexSettings;
  readonly #readHistory: ReadRunHistory;
  readonly #logger = new Logger(VisitIndex.name);
  /** Runs that go on, the longest silent first. */
  readonly #active = new Map<string, IndexedRun>();
  /** Runs that ended, the longest ended first. */
  readonly #ended = new Map<string, { run: IndexedRun; endedAt: number }>();
  /** Runs whose past is being read, with the events that came meanwhile. */
  readonly #rebuilding = new Map<string, { pending: RecordedRunEvent[]; done: Promise<void> }>();
  #bytes = 0;
  #unsubscribe: (() => void) | null = null;
  #sweeper: NodeJS.Timeout | null = null;

  constructor(settings: VisitIndexSettings, readHistory: ReadRunHistory) {
    this.#settings = settings;
    this.#readHistory = readHistory;
  }

  /** Listens to the bus until `stop`. The timer keeps no process alive. */
  start(bus: RunEventBus): void {
    const subscription = bus.subscribe('visit-index', (event) => this.record(event));
    this.#unsubscribe = () => subscription.unsubscribe();
    this.#sweeper = setInterval(() => this.evict(), SWEEP_MILLIS).unref();
  }

  async stop(): Promise<void> {
    this.#unsubscribe?.();
    if (this.#sweeper) clearInterval(this.#sweeper);
    await Promise.all([...this.#rebuilding.values()].map(({ done }) => done));
  }

  /** Estimate of the memory held. */
  get bytes(): number {
    return this.#bytes;
  }

  get runCount(): number {
    return this.#active.size + this.#ended.size;
  }

  record(event: RecordedRunEvent): void {
    const rebuild = this.#rebuilding.get(event.runId);
    if (rebuild) {
      if (rebuild.pending.length < MAX_PENDING_EVENTS) rebuild.pending.push(event);
      return;
    }
    const run = this.#find(event.runId);
    if (run && event.seq <= run.lastSeq) return;
    if (run && event.seq === run.lastSeq + 1) {
      this.#apply(run, event);
      return;
    }
    // Another process held the run for a while: what is here has a hole.
    if (run) this.#forget(run);
    if (event.seq === 1) this.#apply(this.#add(new IndexedRun(event.runId, this.#settings)), event);
    else this.#rebuild(event.runId, [event]);
  }

  lineage(runId: string, visitUuid: string): Lineage | undefined {
    return this.#ask(runId)?.lineage(visitUuid) ?? undefined;
  }

  /** JSON text; null before the visit has ended. */
  envelope(runId: string, visitUuid: string): string | null | undefined {
    return this.#ask(runId)?.visit(visitUuid)?.envelope;
  }

  logs(runId: string, visitUuid: string): readonly LogEntry[] | undefined {
    return this.#ask(runId)?.visit(visitUuid)?.logs;
  }

  /** Resolves when no run's past is being read. */
  async settled(): Promise<void> {
    while (this.#rebuilding.size > 0) {
      await Promise.all([...this.#rebuilding.values()].map(({ done }) => done));
    }
  }

  /** Lets go of runs whose time is over, and of more while too much is held. */
  evict(): void {
    const endedBefore = Date.now() - this.#settings.retentionMillis;
    for (const { run, endedAt } of this.#ended.values()) {
      if (endedAt > endedBefore && this.#bytes <= this.#settings.maxBytes) break;
      this.#forget(run);
    }
    for (const run of this.#active.values()) {
      if (this.#bytes <= this.#settings.maxBytes) break;
      this.#forget(run);
    }
  }

  /** A run that is not held is read for the next time; this time the database answers. */
  #ask(runId: string): IndexedRun | undefined {
    const run = this.#find(runId);
    if (!run && !this.#rebuilding.has(runId)) this.#rebuild(runId, []);
    return run;
  }

  #find(runId: string): IndexedRun | undefined {
    return this.#active.get(runId) ?? this.#ended.get(runId)?.run;
  }

  #apply(run: IndexedRun, event: RecordedRunEvent): void {
    const before = run.bytes;
    run.apply(event);
    this.#bytes += run.bytes - before;
    this.#place(run);
    if (run.finished || this.#bytes > this.#settings.maxBytes) this.evict();
  }

  #add(run: IndexedRun): IndexedRun {
    this.#place(run);
    this.#bytes += run.bytes;
    return run;
  }

  /** Behind the other runs of its kind. The time of one that was found ended counts from now: somebody asks for it. */
  #place(run: IndexedRun): void {
    this.#active.delete(run.runId);
    if (run.finished) this.#ended.set(run.runId, { run, endedAt: Date.now() });
    else this.#active.set(run.runId, run);
  }

  #forget(run: IndexedRun): void {
    if (this.#active.delete(run.runId) || this.#ended.delete(run.runId)) this.#bytes -= run.bytes;
  }

  #rebuild(runId: string, pending: RecordedRunEvent[]): void {
    // Registered before the database is asked: an event that it does not tell of yet will be in `pending`.
    const done = Promise.resolve()
      .then(() => this.#readHistory(runId))
      .then(
        (history) => {
          this.#rebuilding.delete(runId);
          this.#takeUp(runId, history, pending);
        },
        (error: unknown) => {
          this.#rebuilding.delete(runId);
          this.#logger.warn(
            `the past of run ${runId} could not be read, the database goes on answering`,
            error,
          );
        },
      );
    this.#rebuilding.set(runId, { pending, done });
  }

  #takeUp(runId: string, history: RunHistory, pending: readonly RecordedRunEvent[]): void {
    this.#add(IndexedRun.fromHistory(runId, history, this.#settings));
    for (const event of pending) this.record(event);
    if (this.#bytes > this.#settings.maxBytes) this.evict();
  }
}
