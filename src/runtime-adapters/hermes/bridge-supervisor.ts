import { createHash, randomBytes } from 'node:crypto';
import { BridgeChild } from './bridge-child.js';
import { BridgeUnavailableError, type BridgeEndpoint, type BridgeSource } from './bridge-endpoint.js';
import { bridgeHealth } from './bridge-health.js';
import { childEnvironment, type ChildSettings } from './child-environment.js';
import type { HermesLogger } from './child-log.js';

export interface SupervisorOptions {
  /** Path of the bridge's main.js. */
  readonly entry: string;
  /** Read anew for every call, so that a rotated key counts at once. Throws nothing. */
  readonly settings: () => Promise<ChildSettings & { readonly llmProblem: string | null }>;
  readonly logger: HermesLogger;
  /** Takes every known secret out of a line of the child's log. */
  readonly redact: (text: string) => string;
  readonly environment: NodeJS.ProcessEnv;
  readonly timing?: Partial<SupervisorTiming>;
}

/** All in milliseconds. */
export interface SupervisorTiming {
  /** Before the first restart; doubled for each further one. */
  readonly backoff: number;
  readonly longestBackoff: number;
  /** A bridge that lived so long starts the back-off anew. */
  readonly stable: number;
  readonly probeEvery: number;
  readonly probeTimeout: number;
  /** How long a call waits for a bridge that is being started. */
  readonly wait: number;
  /** Between SIGTERM and SIGKILL. */
  readonly grace: number;
}

const TIMING: SupervisorTiming = {
  backoff: 200,
  longestBackoff: 10_000,
  stable: 30_000,
  probeEvery: 5_000,
  probeTimeout: 5_000,
  wait: 20_000,
  grace: 3_000,
};

/** Probes missed in a row after which a bridge counts as hung. */
const MISSED_PROBES = 3;

/**
 * Keeps one bridge process running (`hermes.bridge.mode: managed`): starts it with a fresh secret in its
 * environment, probes it, starts it again when it ends or hangs, and leaves none behind. When its settings change
 * (a rotated key) a new process takes over, and the old one ends with its last call.
 */
export class BridgeSupervisor implements BridgeSource {
  readonly title = 'the managed bridge';
  readonly #options: SupervisorOptions;
  readonly #timing: SupervisorTiming;
  readonly #children = new Set<BridgeChild>();
  readonly #timers = new Set<NodeJS.Timeout>();
  #current: { child: BridgeChild; fingerprint: string; endpoint: BridgeEndpoint | null } | null = null;
  /** Calls that wait for a bridge to listen. */
  #waiting: (() => void)[] = [];
  #failures = 0;
  #starting: Promise<void> | null = null;
  #state: 'new' | 'running' | 'stopping' = 'new';

  constructor(options: SupervisorOptions) {
    this.#options = options;
    this.#timing = { ...TIMING, ...options.timing };
  }

  start(): void {
    if (this.#state !== 'new') return;
    this.#state = 'running';
    this.#launch();
  }

  /** Its process id while one listens; for logs and tests. */
  get pid(): number | undefined {
    return this.#current?.endpoint ? this.#current.child.pid : undefined;
  }

  isReady(): boolean {
    return Boolean(this.#current?.endpoint);
  }

  isStopping(): boolean {
    return this.#state === 'stopping';
  }

  async problemWithModels(): Promise<string | null> {
    return (await this.#options.settings()).llmProblem;
  }

  async endpoint(signal: AbortSignal): Promise<BridgeEndpoint> {
    signal.throwIfAborted();
    if (this.#state !== 'running') throw new BridgeUnavailableError('the bridge is not running', false);
    const current = this.#current;
    if (current?.endpoint && current.fingerprint !== fingerprintOf(await this.#options.settings())) {
      this.#launch();
      await this.#starting;
    }
    const deadline = performance.now() + this.#timing.wait;
    while (!this.#current?.endpoint) {
      if (this.isStopping()) throw new BridgeUnavailableError('the bridge is not running', false);
      const left = deadline - performance.now();
      if (left <= 0) throw new BridgeUnavailableError('the bridge does not start; the log says why', true);
      await this.#change(left, signal);
    }
    return this.#current.endpoint;
  }

  async stop(): Promise<void> {
    this.#state = 'stopping';
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
    this.#tellWaiting();
    const stopAll = (): Promise<unknown> =>
      Promise.all([...this.#children].map((child) => child.stop(this.#timing.grace)));
    await stopAll();
    // One may just have been about to start.
    await this.#starting;
    await stopAll();
  }

  #launch(): void {
    this.#starting ??= this.#startChild()
      .catch((error: unknown) => {
        if (this.isStopping()) return;
        this.#options.logger.error({ err: error }, 'the bridge cannot be started');
        this.#restartLater();
      })
      .finally(() => {
        this.#starting = null;
      });
  }

  /** Resolves once the child listens or has failed to; what follows its end is arranged here too. */
  async #startChild(): Promise<void> {
    const settings = await this.#options.settings();
    if (this.isStopping()) return;
    const { entry, logger, environment } = this.#options;
    const secret = randomBytes(32).toString('hex');
    const child = new BridgeChild({
      entry,
      environment: childEnvironment(settings, secret, environment),
      secret,
      logger,
      redact: (line) => this.#options.redact(line.replaceAll(secret, '[redacted]')),
    });
    this.#children.add(child);
    const startedAt = performance.now();
    void child.exited.then((how) => this.#ended(child, how, startedAt));
    const endpoint = await child.ready.catch((error: unknown) => {
      // One that is told to end while it starts has not failed to.
      if (!this.isStopping()) logger.warn({ err: error }, 'the bridge did not start');
      return null;
    });
    if (!endpoint || !child.isRunning || this.isStopping()) return;
    const former = this.#current;
    this.#current = { child, fingerprint: fingerprintOf(settings), endpoint };
    logger.info({ pid: child.pid, url: endpoint.url }, 'the bridge listens');
    this.#tellWaiting();
    this.#probe(child, endpoint, 0);
    if (former?.endpoint) this.#retire(former.child, former.endpoint);
  }

  #ended(child: BridgeChild, how: string, startedAt: number): void {
    this.#children.delete(child);
    const wasCurrent = this.#current?.child === child;
    if (wasCurrent) this.#current = null;
    if (this.isStopping()) return;
    // One that was replaced has done its work; one that never listened while another serves is not missed.
    if (!wasCurrent && this.#current) return;
    const lived = performance.now() - startedAt;
    if (lived >= this.#timing.stable) this.#failures = 0;
    this.#options.logger.warn({ pid: child.pid, how }, 'the bridge ended; it will be started again');
    this.#restartLater();
  }

  #restartLater(): void {
    const pause = Math.min(this.#timing.longestBackoff, this.#timing.backoff * 2 ** this.#failures);
    this.#failures += 1;
    this.#later(pause, () => this.#launch());
  }

  #probe(child: BridgeChild, endpoint: BridgeEndpoint, missed: number): void {
    this.#later(this.#timing.probeEvery, () => {
      void bridgeHealth(endpoint, this.#timing.probeTimeout).then((health) => {
        if (!child.isRunning || this.#current?.child !== child) return;
        const now = health ? 0 : missed + 1;
        if (now >= MISSED_PROBES) {
          this.#options.logger.error({ pid: child.pid }, 'the bridge hangs and is killed');
          child.kill();
        } else {
          this.#probe(child, endpoint, now);
        }
      });
    });
  }

  /** Ends a replaced bridge once it has no call left. */
  #retire(child: BridgeChild, endpoint: BridgeEndpoint): void {
    this.#later(this.#timing.probeEvery, () => {
      void bridgeHealth(endpoint, this.#timing.probeTimeout).then((health) => {
        if (!child.isRunning || this.isStopping()) return;
        if (health && health.active > 0) this.#retire(child, endpoint);
        else void child.stop(this.#timing.grace);
      });
    });
  }

  #later(millis: number, what: () => void): void {
    if (this.isStopping()) return;
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      what();
    }, millis);
    this.#timers.add(timer);
  }

  #tellWaiting(): void {
    for (const tell of this.#waiting.splice(0)) tell();
  }

  /** Waits until a bridge listens or the time is over; throws the signal's reason when it aborts. */
  async #change(millis: number, signal: AbortSignal): Promise<void> {
    await new Promise<void>((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', done);
        resolve();
      };
      const timer = setTimeout(done, millis);
      signal.addEventListener('abort', done, { once: true });
      this.#waiting.push(done);
    });
    signal.throwIfAborted();
  }
}

/** Tells settings apart without keeping them. */
function fingerprintOf({ llm, maxToolCalls, allowDemo, logLevel }: ChildSettings): string {
  return createHash('sha256')
    .update(JSON.stringify([llm, maxToolCalls, allowDemo, logLevel]))
    .digest('hex');
}
