/** What became of one member of a shared commit, and what it gets back. */
export type MemberOutcome<R> =
  { readonly ok: true; readonly value: R } | { readonly ok: false; readonly error: Error };

export interface GroupCommitOptions {
  /** Members of one commit at the most. */
  maxBatch: number;
  /** True where a failed commit tells nothing about its members (a lost connection): none is tried again. */
  isFatal: (error: unknown) => boolean;
}

/** A commit under way. */
interface Committing<T, R> {
  readonly batch: readonly Waiting<T, R>[];
  readonly outcomes: Promise<readonly MemberOutcome<R>[]>;
}

/** From so many writers on, a commit leaves half of them for the next one. */
const SPLIT_FROM = 16;

interface Waiting<T, R> {
  readonly member: T;
  readonly settle: (outcome: MemberOutcome<R>) => void;
}

/**
 * Lets many writers share one commit: whatever arrives while a commit is under way goes into the next one, in
 * order of arrival. Latency stays one commit, throughput grows with load. When a shared commit fails, its members
 * are tried one by one, so that one bad row fails one member (decision 44).
 *
 * Many writers that each wait for their commit before they write again would all end up in the same one, and this
 * process and the database would take turns in doing nothing. So they are kept in two groups: while one's commit is
 * under way, the other prepares its next.
 */
export class GroupCommit<T, R = void> {
  #waiting: Waiting<T, R>[] = [];
  #running: Promise<void> | null = null;

  constructor(
    private readonly commit: (batch: readonly T[]) => Promise<readonly MemberOutcome<R>[]>,
    private readonly options: GroupCommitOptions,
  ) {}

  /** Resolves when the member is durable; rejects with why it is not. */
  submit(member: T): Promise<R> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({
        member,
        settle: (outcome) => {
          if (outcome.ok) resolve(outcome.value);
          else reject(outcome.error);
        },
      });
      this.#running ??= Promise.resolve().then(() => this.#drain());
    });
  }

  /** Resolves when everything submitted so far has been settled. */
  async idle(): Promise<void> {
    while (this.#running) await this.#running;
  }

  async #drain(): Promise<void> {
    let committing = this.#commitNext(0);
    while (committing) {
      const { batch, outcomes } = committing;
      const reached = await outcomes;
      // First, so that the database is at work while those that are settled now act.
      committing = this.#commitNext(batch.length);
      batch.forEach(({ settle }, at) => settle(reached[at] ?? { ok: false, error: new Error('no outcome') }));
    }
    this.#running = null;
  }

  /** `settled`: how many of the last commit are likely to come again. */
  #commitNext(settled: number): Committing<T, R> | null {
    const writers = this.#waiting.length + settled;
    const share = writers < SPLIT_FROM ? writers : Math.ceil(writers / 2);
    const batch = this.#waiting.splice(0, Math.min(share, this.options.maxBatch));
    if (batch.length === 0) return null;
    return { batch, outcomes: this.#outcomesOf(batch.map(({ member }) => member)) };
  }

  /** Never rejects. */
  async #outcomesOf(members: readonly T[]): Promise<readonly MemberOutcome<R>[]> {
    try {
      return await this.commit(members);
    } catch (error) {
      if (members.length > 1 && !this.options.isFatal(error)) {
        const outcomes: MemberOutcome<R>[] = [];
        for (const member of members) outcomes.push(...(await this.#outcomesOf([member])));
        return outcomes;
      }
      const reason = error instanceof Error ? error : new Error(String(error));
      return members.map(() => ({ ok: false, error: reason }));
    }
  }
}
