import type { RuntimeGovernance } from './runtime-governance.js';

/** Milliseconds between the passes of each job. */
const EVERY = { settleOrphans: 5_000, forgetOutputs: 60_000, reconcile: 10_000 } as const;

/** Runs the jobs of the ledger in the background; each begins again only when its last pass has ended. */
export class CallUpkeep {
  readonly #timers = new Map<string, NodeJS.Timeout>();
  readonly #passes = new Set<Promise<void>>();
  #stop = new AbortController();

  constructor(
    private readonly jobs: Pick<RuntimeGovernance, keyof typeof EVERY | 'owners'>,
    private readonly onError: (error: unknown) => void,
  ) {}

  start(): void {
    this.#stop = new AbortController();
    this.#begin('settleOrphans', 0, (signal) => this.jobs.settleOrphans.execute(signal));
    this.#begin('forgetOutputs', EVERY.forgetOutputs, () => this.jobs.forgetOutputs.execute());
    this.#begin('reconcile', EVERY.reconcile, (signal) => this.jobs.reconcile.execute(signal));
  }

  /** Resolves when no job is under way any more. */
  async stop(): Promise<void> {
    this.#stop.abort(new Error('the server stops'));
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#timers.clear();
    await Promise.all(this.#passes);
    await this.jobs.settleOrphans.idle();
    this.jobs.owners.stop();
  }

  #begin(
    job: keyof typeof EVERY,
    afterMillis: number,
    pass: (signal: AbortSignal) => Promise<unknown>,
  ): void {
    const { signal } = this.#stop;
    const timer = setTimeout(() => {
      const running = pass(signal)
        .then(() => undefined)
        .catch((error: unknown) => {
          if (!signal.aborted) this.onError(error);
        })
        .finally(() => {
          this.#passes.delete(running);
          if (!signal.aborted) this.#begin(job, EVERY[job], pass);
        });
      this.#passes.add(running);
    }, afterMillis).unref();
    this.#timers.set(job, timer);
  }
}
