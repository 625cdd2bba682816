import { availableParallelism } from 'node:os';
import { WorkerPool, WorkerTimeoutError } from '../../../common/workers/index.js';
import type { SandboxAnswer, SandboxJob } from './sandbox-job.js';

export interface SandboxLimits {
  /** Threads, that is code nodes that run at the same time in this process. Default: the number of cores. */
  readonly threads?: number;
  /** Milliseconds one run of code may take, whatever the node's timeout. Default: 10 s. */
  readonly timeoutMillis?: number;
  /** Default: 64 MB. */
  readonly memoryBytes?: number;
  /** Of the result as JSON. Default: 10 MB. */
  readonly outputBytes?: number;
}

const MIB = 1024 ** 2;
/** The sandbox ends code by itself; a thread that is still busy so much later is ended from outside. */
const GRACE_MILLIS = 1_000;

/** Runs the code of `code` nodes in QuickJS, in threads of their own (decision 43). */
export class CodeSandbox {
  readonly #pool: WorkerPool<SandboxJob, SandboxAnswer>;
  readonly #limits: Required<Omit<SandboxLimits, 'threads'>>;

  constructor({ threads, timeoutMillis, memoryBytes, outputBytes }: SandboxLimits = {}) {
    this.#limits = {
      timeoutMillis: timeoutMillis ?? 10_000,
      memoryBytes: memoryBytes ?? 64 * MIB,
      outputBytes: outputBytes ?? 10 * MIB,
    };
    this.#pool = new WorkerPool({
      module: new URL('./sandbox-worker.js', import.meta.url),
      size: threads ?? availableParallelism(),
      resourceLimits: { maxOldGenerationSizeMb: 256 },
    });
  }

  /** How the code ended. Throws the signal's reason when it aborts, WorkerLostError when the thread broke. */
  async run(
    job: Pick<SandboxJob, 'code' | 'inputs' | 'seed' | 'now'> & { timeoutMillis: number },
    signal: AbortSignal,
  ): Promise<SandboxAnswer> {
    const timeoutMillis = Math.min(job.timeoutMillis, this.#limits.timeoutMillis);
    try {
      const limited = { ...job, ...this.#limits, timeoutMillis };
      return await this.#pool.run(limited, { timeoutMillis: timeoutMillis + GRACE_MILLIS, signal });
    } catch (error) {
      if (!(error instanceof WorkerTimeoutError)) throw error;
      const message = `the code ran longer than ${timeoutMillis / 1000} s`;
      return { kind: 'failed', reason: 'time', message, line: null, console: [] };
    }
  }

  close(): Promise<void> {
    return this.#pool.close();
  }
}
