/** What became of one member of a shared commit, and what it gets back. */
export type MemberOutcome<R> =
  { readonly ok: true; readonly value: R } | { readonly ok: false; readonly error: Error };

export interface GroupCommitOptions {
  /** Members of one commit at the most. */
  maxBatch: number;
  /** True where a failed commit tells nothing about its members (a lost connection): none is tried again. */
  isFatal: (error: unknown) => boolean;
}

interface Waiting<T, R> {
  readonly member: T;
  readonly settle: (outcome: MemberOutcome<R>) => void;
}

/**
 * Lets many writers share one commit: whatever arrives while a commit is under way goes into the next one, in
 * order of arrival. Latency stays one commit, throughput grows with load. When a shared commit fails, its members
 * are tried one by one, so that one bad row fails one member (decision 44).
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
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, this.options.maxBatch);
      await this.#commitTogether(batch);
    }
    this.#running = null;
  }

  async #commitTogether(batch: readonly Waiting<T, R>[]): Promise<void> {
    try {
      const outcomes = await this.commit(batch.map(({ member }) => member));
      batch.forEach(({ settle }, at) =>
        settle(outcomes[at] ?? { ok: false, error: new Error('no outcome') }),
      );
    } catch (error) {
      if (batch.length > 1 && !this.options.isFatal(error)) {
        for (const one of batch) await this.#commitTogether([one]);
        return;
      }
      const reason = error instanceof Error ? error : new Error(String(error));
      for (const { settle } of batch) settle({ ok: false, error: reason });
    }
  }
}
