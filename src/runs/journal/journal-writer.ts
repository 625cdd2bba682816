import { isConnectionError } from '../../database/connection-error.js';
import { GroupCommit, type MemberOutcome } from '../../database/group-commit.js';
import type { PreparedConnection } from '../../database/prepared-connection.js';
import { stayAwake } from '../../database/stay-awake.js';
import type { RecordedRunEvent } from '../../events/run-event.js';
import type { RunLease } from '../leases/run-leases.js';
import { commitRows, type PreparedEntry } from './commit-rows.js';
import { commitStatement } from './commit-statement.js';
import { JournalUnavailableError } from './journal-errors.js';
import { RunJournal, type JournalMember } from './run-journal.js';

/** Entries of one shared commit at the most; larger ones only make each member wait longer. */
const MAX_BATCH = 512;
/** With so many entries a commit is worth staying awake for; with more of them there is enough else to do. */
const FEW_ENTRIES = 4;

type JournalLease = Pick<RunLease, 'runId' | 'epoch' | 'opening'>;

/** Writes the journals of all runs of this process through one connection, sharing commits (decision 33). */
export class JournalWriter {
  readonly #group: GroupCommit<JournalMember>;

  constructor(
    private readonly connection: Pick<PreparedConnection, 'query'>,
    private readonly publish: (event: RecordedRunEvent) => void,
  ) {
    this.#group = new GroupCommit((batch) => this.#commit(batch), {
      maxBatch: MAX_BATCH,
      // Anything else may be one member's own fault: it is found by trying each alone.
      isFatal: (error) => error instanceof JournalUnavailableError,
    });
  }

  /** The journal of a run that this process holds under the lease and that has `latestSeq` events so far. */
  open({ runId, epoch, opening }: JournalLease, latestSeq: number): RunJournal {
    const submit = async (member: JournalMember): Promise<void> => {
      try {
        await this.#group.submit(member);
      } catch (error) {
        member.journal.refuse(asError(error));
        throw error;
      }
    };
    return new RunJournal(runId, epoch, latestSeq, submit, opening);
  }

  idle(): Promise<void> {
    return this.#group.idle();
  }

  async #commit(batch: readonly JournalMember[]): Promise<readonly MemberOutcome<void>[]> {
    try {
      return await this.#commitTogether(batch);
    } catch (error) {
      // Tried alone, it is this entry that fails: nothing later of its run may be stored without it.
      if (batch.length === 1) batch[0]?.journal.refuse(asError(error));
      throw error;
    }
  }

  async #commitTogether(batch: readonly JournalMember[]): Promise<readonly MemberOutcome<void>[]> {
    const at = new Date().toISOString();
    const nextSeq = new Map<RunJournal, number>();
    const newest = newestEpochs(batch);
    const prepared: (PreparedEntry | null)[] = batch.map(({ journal, entry }) => {
      // Whoever took the run over shares the commit: the statement asks for one epoch a run.
      if (journal.refused || journal.epoch !== newest.get(journal.runId)) return null;
      const firstSeq = nextSeq.get(journal) ?? journal.committedSeq + 1;
      nextSeq.set(journal, firstSeq + entry.events.length);
      return journal.prepare(entry, firstSeq, at);
    });
    const entries = prepared.filter((entry) => entry !== null);
    const held = await this.#write(entries);
    return batch.map(({ journal }, index): MemberOutcome<void> => {
      const entry = prepared[index];
      if (!entry) return { ok: false, error: journal.refused ?? journal.loseLease() };
      if (!held.has(journal.runId)) return { ok: false, error: journal.loseLease() };
      for (const event of journal.committed(entry)) this.publish(event);
      return { ok: true, value: undefined };
    });
  }

  async #write(entries: readonly PreparedEntry[]): Promise<ReadonlySet<string>> {
    if (entries.length === 0) return new Set();
    const statement = commitStatement(commitRows(entries));
    try {
      const answer = this.connection.query<{ run_id: string }>(statement);
      if (entries.length <= FEW_ENTRIES && entries.some(isStep)) stayAwake(answer);
      const rows = await answer;
      return new Set(rows.map(({ run_id }) => run_id));
    } catch (error) {
      throw isConnectionError(error) ? new JournalUnavailableError(error) : error;
    }
  }
}

function newestEpochs(batch: readonly JournalMember[]): ReadonlyMap<string, number> {
  const newest = new Map<string, number>();
  for (const { journal } of batch) {
    newest.set(journal.runId, Math.max(journal.epoch, newest.get(journal.runId) ?? 0));
  }
  return newest;
}

/** The run cannot go on before it is durable; what nodes log meanwhile has time. */
function isStep({ entry: { begun, changed, end, rest } }: PreparedEntry): boolean {
  return begun !== undefined || changed !== undefined || end !== undefined || rest !== undefined;
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
