import { Worker, type ResourceLimits } from 'node:worker_threads';
import type { WorkerMessage } from './serve-jobs.js';
import { workerModule } from './worker-module.js';

export interface WorkerPoolOptions {
  /** The worker's module, which calls `serveJobs`: `new URL('./x-worker.js', import.meta.url)`. */
  readonly module: URL;
  /** Threads at most; further jobs wait their turn. */
  readonly size: number;
  readonly resourceLimits?: ResourceLimits;
  /** A thread without work ends after that long. Default: 30 s. */
  readonly idleMillis?: number;
}

/** Thrown when a job took longer than it may; its thread was ended. */
export class WorkerTimeoutError extends Error {
  constructor(readonly timeoutMillis: number) {
    super(`no result within ${timeoutMillis} ms`);
    this.name = 'WorkerTimeoutError';
  }
}

/** Thrown when a job's thread ended before it answered: out of memory, or a fault of its own. */
export class WorkerLostError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'WorkerLostError';
  }
}

interface Task<Job, Answer> {
  readonly job: Job;
  readonly timeoutMillis: number;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: Error) => void;
}

/**
 * Work that may take long, or never end, in threads of its own: at most `size` of them, one job each at a time. A
 * job that takes too long or is given up takes its thread with it, and the next job gets a new one.
 */
export class WorkerPool<Job, Answer> {
  readonly #waiting: Task<Job, Answer>[] = [];
  readonly #threads = new Set<PoolThread<Job, Answer>>();

  constructor(private readonly options: WorkerPoolOptions) {}

  /**
   * The answer to a job. `timeoutMillis` counts from the moment a thread has taken it. Throws WorkerTimeoutError,
   * WorkerLostError, the signal's reason, or an Error with the message of what the worker threw.
   */
  async run(job: Job, options: { timeoutMillis: number; signal?: AbortSignal }): Promise<Answer> {
    const { timeoutMillis, signal } = options;
    signal?.throwIfAborted();
    let onAbort: (() => void) | undefined;
    try {
      return await new Promise<Answer>((resolve, reject) => {
        const task = { job, timeoutMillis, resolve, reject };
        onAbort = () => this.#giveUp(task, reasonOf(signal));
        signal?.addEventListener('abort', onAbort);
        this.#waiting.push(task);
        this.#assign();
      });
    } finally {
      if (onAbort) signal?.removeEventListener('abort', onAbort);
    }
  }

  /** Ends every thread; jobs without an answer are rejected. */
  async close(): Promise<void> {
    for (const { reject } of this.#waiting.splice(0)) reject(new WorkerLostError('the pool was closed'));
    await Promise.all(
      [...this.#threads].map((thread) => thread.end(new WorkerLostError('the pool was closed'))),
    );
  }

  #assign(): void {
    while (this.#waiting.length > 0) {
      const thread = [...this.#threads].find(({ isFree }) => isFree) ?? this.#newThread();
      if (!thread) return;
      const task = this.#waiting.shift();
      if (task) thread.take(task);
    }
  }

  #newThread(): PoolThread<Job, Answer> | null {
    if (this.#threads.size >= this.options.size) return null;
    const thread = new PoolThread<Job, Answer>(this.options, {
      free: () => this.#assign(),
      gone: () => {
        this.#threads.delete(thread);
        this.#assign();
      },
    });
    this.#threads.add(thread);
    return thread;
  }

  #giveUp(task: Task<Job, Answer>, reason: Error): void {
    const at = this.#waiting.indexOf(task);
    if (at >= 0) {
      this.#waiting.splice(at, 1);
      task.reject(reason);
      return;
    }
    for (const thread of this.#threads) if (thread.task === task) void thread.end(reason);
  }
}

const DEFAULT_IDLE_MILLIS = 30_000;

/** One thread of a pool and the job it has taken. */
class PoolThread<Job, Answer> {
  readonly #worker: Worker;
  #task: Task<Job, Answer> | null = null;
  #ready = false;
  #ended = false;
  #deadline: NodeJS.Timeout | undefined;
  #idle: NodeJS.Timeout | undefined;

  constructor(
    private readonly options: WorkerPoolOptions,
    private readonly pool: { free: () => void; gone: () => void },
  ) {
    const { url, execArgv } = workerModule(options.module);
    // Without the server's environment: what runs there needs none of its secrets.
    this.#worker = new Worker(url, { execArgv, env: {}, resourceLimits: options.resourceLimits });
    this.#worker.on('message', (message: WorkerMessage<Answer>) => this.#hear(message));
    this.#worker.on('error', (error) => void this.end(lost(error)));
    this.#worker.on(
      'exit',
      (code) => void this.end(new WorkerLostError(`the thread ended with code ${code}`)),
    );
  }

  get isFree(): boolean {
    return this.#task === null && !this.#ended;
  }

  get task(): Task<Job, Answer> | null {
    return this.#task;
  }

  take(task: Task<Job, Answer>): void {
    clearTimeout(this.#idle);
    this.#task = task;
    this.#worker.ref();
    if (this.#ready) this.#begin(task);
  }

  /** Ends the thread; a job it has taken is rejected with `error`. */
  async end(error: Error): Promise<void> {
    if (this.#ended) return;
    this.#ended = true;
    clearTimeout(this.#idle);
    this.#leaveTask()?.reject(error);
    const terminated = this.#worker.terminate();
    this.pool.gone();
    await terminated;
  }

  #begin(task: Task<Job, Answer>): void {
    this.#deadline = setTimeout(
      () => void this.end(new WorkerTimeoutError(task.timeoutMillis)),
      task.timeoutMillis,
    );
    this.#worker.postMessage(task.job);
  }

  #hear(message: WorkerMessage<Answer>): void {
    if (this.#ended) return;
    if (message.kind === 'ready') {
      this.#ready = true;
      if (this.#task) this.#begin(this.#task);
      return;
    }
    const task = this.#leaveTask();
    this.#rest();
    if (message.kind === 'answer') task?.resolve(message.answer);
    else task?.reject(new Error(message.message));
    this.pool.free();
  }

  #leaveTask(): Task<Job, Answer> | null {
    const task = this.#task;
    this.#task = null;
    clearTimeout(this.#deadline);
    return task;
  }

  /** Without work it does not keep the process alive, and ends after a while. */
  #rest(): void {
    this.#worker.unref();
    const end = (): void => void this.end(new WorkerLostError('the thread had no work'));
    this.#idle = setTimeout(end, this.options.idleMillis ?? DEFAULT_IDLE_MILLIS).unref();
  }
}

function lost(error: Error): WorkerLostError {
  const memory = 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';
  const message = memory ? 'the thread ran out of memory' : `the thread failed: ${error.message}`;
  return new WorkerLostError(message, { cause: error });
}

function reasonOf(signal: AbortSignal | undefined): Error {
  const reason: unknown = signal?.reason;
  return reason instanceof Error ? reason : new Error(String(reason));
}
