import type { DataSource } from 'typeorm';
import { GroupCommit, type MemberOutcome } from '../../database/group-commit.js';
import type { RuntimeOutput } from '../protocol/agent-runtime-response.js';
import type { EndedCall, LedgerEntry, RequestedCall, StartedCall } from './ledger-entry.js';
import { LEDGER_STATEMENT, ledgerParameters } from './ledger-statement.js';
import { RuntimeCallOutputEntity } from './runtime-call-output.entity.js';
import { RuntimeCallEntity } from './runtime-call.entity.js';

/** Entries of one shared commit at the most. */
const MAX_BATCH = 256;

/** SQLSTATE classes that speak of the connection or the server, not of the statement. */
const CONNECTION_CLASSES = /^(08|57)/;

interface Member {
  entry: LedgerEntry;
  /** Whether the statement wrote it; false where the command was there already, or had ended. */
  written: boolean;
}

/**
 * The record of every call of a runtime (agent-runtime-protocol.md §9). Each method returns when its entry is
 * durable; the calls of this process share commits.
 */
export class CallLedger {
  readonly #group: GroupCommit<Member>;

  constructor(private readonly dataSource: DataSource) {
    this.#group = new GroupCommit((batch) => this.#commit(batch), {
      maxBatch: MAX_BATCH,
      isFatal: (error) => {
        const { code } = error as { code?: unknown };
        return typeof code !== 'string' || !/^[0-9A-Z]{5}$/.test(code) || CONNECTION_CLASSES.test(code);
      },
    });
  }

  /** False where the command has been requested before: then nothing may be sent. */
  requested(call: Omit<RequestedCall, 'kind'>): Promise<boolean> {
    return this.#write({ kind: 'requested', ...call });
  }

  async started(call: Omit<StartedCall, 'kind'>): Promise<void> {
    await this.#write({ kind: 'started', ...call });
  }

  /** False where the call's end was recorded before, by a recovery; that record stands. */
  ended(call: Omit<EndedCall, 'kind'>): Promise<boolean> {
    return this.#write({ kind: 'ended', ...call });
  }

  find(commandId: string): Promise<RuntimeCallEntity | null> {
    return this.dataSource.getRepository(RuntimeCallEntity).findOneBy({ commandId });
  }

  /** The answer of a call that succeeded, while it is kept. */
  async output(commandId: string): Promise<RuntimeOutput | null> {
    const kept = await this.dataSource.getRepository(RuntimeCallOutputEntity).findOneBy({ commandId });
    return kept?.output ?? null;
  }

  async #write(entry: LedgerEntry): Promise<boolean> {
    const member: Member = { entry, written: false };
    await this.#group.submit(member);
    return member.written;
  }

  async #commit(batch: readonly Member[]): Promise<MemberOutcome[]> {
    const rows = await this.dataSource.query<{ kind: string; command_id: string }[]>(
      LEDGER_STATEMENT,
      ledgerParameters(batch.map(({ entry }) => entry)),
    );
    const written = new Set(rows.map(({ kind, command_id }) => `${kind} ${command_id}`));
    return batch.map((member) => {
      member.written = written.has(`${member.entry.kind} ${member.entry.commandId}`);
      return { ok: true };
    });
  }
}
