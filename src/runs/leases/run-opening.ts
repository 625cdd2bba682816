/**
 * The start of a run that becomes durable with the first entry of its journal, which spares the run a commit of its
 * own. Until then the run is `CREATED`, and anybody else may still start or cancel it: whoever commits first has it.
 */
export class RunOpening {
  #state: 'untried' | 'under way' | 'stored' | 'refused' = 'untried';
  #settle!: (isStored: boolean) => void;
  /** Whether it was stored; settles once that is known, or once it is certain that it never will be. */
  readonly done = new Promise<boolean>((resolve) => (this.#settle = resolve));

  constructor(
    /** Who holds the run from then on, for how long, and when it was asked to start. */
    readonly owner: string,
    readonly leaseSeconds: number,
    readonly startedAt: Date,
  ) {}

  get isStored(): boolean {
    return this.#state === 'stored';
  }

  /** Its outcome is not known yet: the next entry has to carry it. */
  get isOpen(): boolean {
    return this.#state === 'untried' || this.#state === 'under way';
  }

  try(): void {
    if (this.#state === 'untried') this.#state = 'under way';
  }

  succeed(): void {
    this.#state = 'stored';
    this.#settle(true);
  }

  /** Without effect once it is stored. */
  fail(): void {
    if (this.#state === 'stored') return;
    this.#state = 'refused';
    this.#settle(false);
  }

  /** Gives it up where nobody has tried it; resolves once nothing of it is under way. */
  async close(): Promise<void> {
    if (this.#state === 'untried') this.fail();
    await this.done;
  }
}
