import type { Logger } from 'pino';
import type { RunFamily } from './run-family.js';

export interface OrphanWatchTiming {
  /** After the start, when what a predecessor's death left is old enough to be told from what is just being ended. */
  readonly firstMillis: number;
  readonly everyMillis: number;
}

/** Looks for runs that outlived their parents, soon after the start and then from time to time. */
export class OrphanWatch {
  #timer: NodeJS.Timeout | null = null;
  #looking: Promise<void> = Promise.resolve();

  constructor(
    private readonly family: Pick<RunFamily, 'cancelOrphans'>,
    private readonly logger: Logger,
    private readonly timing: OrphanWatchTiming = { firstMillis: 12_000, everyMillis: 30_000 },
  ) {}

  start(): void {
    this.#timer = setTimeout(() => {
      this.#looking = this.look({ alsoNeverStarted: true });
      this.#timer = setInterval(() => {
        // Those that were never started do no harm meanwhile, and no index finds them.
        this.#looking = this.#looking.then(() => this.look({ alsoNeverStarted: false }));
      }, this.timing.everyMillis);
    }, this.timing.firstMillis);
  }

  async stop(): Promise<void> {
    if (this.#timer) clearInterval(this.#timer);
    await this.#looking;
  }

  async look({ alsoNeverStarted }: { alsoNeverStarted: boolean }): Promise<void> {
    try {
      let found = await this.family.cancelOrphans({ started: true });
      if (alsoNeverStarted) found += await this.family.cancelOrphans({ started: false });
      if (found > 0) this.logger.warn({ runs: found }, 'runs that outlived their parents were cancelled');
    } catch (error) {
      this.logger.warn({ err: error }, 'runs that outlived their parents could not be looked for');
    }
  }
}
