import type { Logger } from 'pino';
import type { HeldRun, OpeningRun, RunLeases } from '../../runs/leases/run-leases.js';
import type { ExecutionRegistry } from '../execution/execution-registry.js';
import type { ExecuteRun } from '../execution/execute-run.js';
import type { GiveUpRun } from '../execution/give-up-run.js';
import { LeftOnPurposeError } from '../execution/left-on-purpose.js';
import type { RunDispatcher } from './run-dispatcher.js';

export interface InProcessDispatcherOptions {
  /** Runs executed at the same time; the others wait in the database. */
  maxActiveRuns: number;
  sweepSeconds: number;
}

/** A wake-up nearer than this gets a timer of its own; the sweeper finds the others. */
const NEAR_WAKE_MILLIS = 60_000;

/**
 * Executes runs in this process. PostgreSQL is the truth: a sweeper finds every run that may be claimed, whether
 * it was started, left by a process that died, or is due to wake; `dispatch` only makes it quicker.
 */
export class InProcessDispatcher implements RunDispatcher {
  readonly #queued = new Set<string>();
  readonly #active = new Map<string, Promise<void>>();
  /** Active runs that were asked for meanwhile: one that just lies down has to be looked at again. */
  readonly #again = new Map<string, HeldRun | undefined>();
  readonly #wakes = new Set<NodeJS.Timeout>();
  #sweeper: NodeJS.Timeout | null = null;
  #stopped = false;

  constructor(
    private readonly executeRun: ExecuteRun,
    private readonly giveUpRun: GiveUpRun,
    private readonly leases: RunLeases,
    private readonly registry: ExecutionRegistry,
    private readonly options: InProcessDispatcherOptions,
    private readonly logger: Logger,
  ) {}

  async start(): Promise<void> {
    await this.#sweep();
    this.#sweeper = setInterval(() => void this.#sweep(), this.options.sweepSeconds * 1000);
  }

  get hasRoom(): boolean {
    return !this.#stopped && this.#active.size < this.options.maxActiveRuns;
  }

  dispatch(runId: string, held?: HeldRun): void {
    if (this.#stopped) return;
    if (this.#active.has(runId)) {
      // A lease that was just taken must not be lost: nobody else can take the run while it lasts.
      this.#again.set(runId, held ?? this.#again.get(runId));
      return;
    }
    if (!held && this.#active.size >= this.options.maxActiveRuns) {
      this.#queued.add(runId);
      return;
    }
    void this.#begin(runId, held);
  }

  async open(held: OpeningRun): Promise<boolean> {
    const { runId, opening } = held.lease;
    if (!this.hasRoom || this.#active.has(runId)) return false;
    const task = this.#begin(runId, held);
    if (await opening.done) return true;
    await task;
    return false;
  }

  #begin(runId: string, held?: HeldRun): Promise<void> {
    const task = this.#execute(runId, held).finally(() => {
      this.#active.delete(runId);
      const isAsked = this.#again.has(runId);
      const next = this.#again.get(runId);
      this.#again.delete(runId);
      if (isAsked) this.dispatch(runId, next);
      this.#next();
    });
    this.#active.set(runId, task);
    return task;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    if (this.#sweeper) clearInterval(this.#sweeper);
    for (const timer of this.#wakes) clearTimeout(timer);
    this.#queued.clear();
    this.#again.clear();
    await this.registry.leaveAll(new LeftOnPurposeError('the server is stopping'));
    await Promise.allSettled(this.#active.values());
  }

  async #execute(runId: string, held?: HeldRun): Promise<void> {
    try {
      const end = await this.executeRun.execute(runId, held);
      if (end?.kind === 'rests') this.#wakeAt(runId, end.wakeAt);
      if (end?.kind === 'left' && !this.#stopped) {
        this.logger.warn({ runId, err: end.reason }, 'the run was left; it goes on from what is durable');
      }
      await this.giveUpRun.afterExecution(runId, end);
    } catch (error) {
      this.logger.error({ runId, err: error }, 'the run could not be executed; the sweeper tries again');
    }
  }

  #next(): void {
    for (const runId of this.#queued) {
      if (this.#active.size >= this.options.maxActiveRuns) return;
      this.#queued.delete(runId);
      this.dispatch(runId);
    }
  }

  #wakeAt(runId: string, wakeAt: Date): void {
    const wait = wakeAt.getTime() - Date.now();
    if (this.#stopped || wait > NEAR_WAKE_MILLIS) return;
    const timer = setTimeout(
      () => {
        this.#wakes.delete(timer);
        this.dispatch(runId);
      },
      Math.max(0, wait) + 1,
    );
    this.#wakes.add(timer);
  }

  async #sweep(): Promise<void> {
    const room = this.options.maxActiveRuns - this.#active.size;
    if (this.#stopped || room <= 0) return;
    try {
      for (const runId of await this.leases.claimable(room)) this.dispatch(runId);
    } catch (error) {
      this.logger.warn({ err: error }, 'runs to execute could not be looked for');
    }
  }
}
