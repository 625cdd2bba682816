import { In, type DataSource } from 'typeorm';
import { errorCode } from '../../common/errors/error-code.js';
import { GroupCommit, type MemberOutcome } from '../../database/group-commit.js';
import type { RuntimeOutput } from '../protocol/agent-runtime-response.js';
import { CHANGE_STATEMENT, changeParameters } from './change-statement.js';
import type { EndedCall, LedgerEntry, RequestedCall, StartedCall } from './ledger-entry.js';
import { REQUEST_STATEMENT, requestParameters } from './request-statement.js';
import { RuntimeCallOutputEntity } from './runtime-call-output.entity.js';
import { RuntimeCallEntity } from './runtime-call.entity.js';

/** Entries of one shared commit at the most. */
const MAX_BATCH = 256;

/** Attempts of a visit that are looked through for the last one that was sent. */
const MAX_EARLIER = 50;

/** SQLSTATE classes that speak of the connection or the server, not of the statement. */
const CONNECTION_CLASSES = /^(08|57)/;

/**
 * The record of every call of a runtime (agent-runtime-protocol.md §9). Each method returns when its entry is
 * durable; the calls of this process share commits.
 */
export class CallLedger {
  readonly #requests: GroupCommit<RequestedCall, boolean>;
  readonly #changes: GroupCommit<StartedCall | EndedCall, boolean>;

  constructor(private readonly dataSource: DataSource) {
    const options = { maxBatch: MAX_BATCH, isFatal: saysNothingOfItsMembers };
    this.#requests = new GroupCommit(
      (batch) => this.#commit(batch, REQUEST_STATEMENT, requestParameters(batch)),
      options,
    );
    this.#changes = new GroupCommit(
      (batch) => this.#commit(batch, CHANGE_STATEMENT, changeParameters(batch)),
      options,
    );
  }

  /** False where the command has been requested before: then nothing may be sent. */
  requested(call: Omit<RequestedCall, 'kind'>): Promise<boolean> {
    return this.#requests.submit({ kind: 'requested', ...call });
  }

  async started(call: Omit<StartedCall, 'kind'>): Promise<void> {
    await this.#changes.submit({ kind: 'started', ...call });
  }

  /** False where the call's end was recorded before, by a recovery; that record stands. */
  ended(call: Omit<EndedCall, 'kind'>): Promise<boolean> {
    return this.#changes.submit({ kind: 'ended', ...call });
  }

  find(commandId: string): Promise<RuntimeCallEntity | null> {
    return this.dataSource.getRepository(RuntimeCallEntity).findOneBy({ commandId });
  }

  /** The call of the latest attempt below `beforeAttempt`; command ids of visits are `{visitUuid}:{attempt}`. */
  async newestOfVisit(visitUuid: string, beforeAttempt: number): Promise<RuntimeCallEntity | null> {
    const earlier = Array.from(
      { length: Math.min(beforeAttempt - 1, MAX_EARLIER) },
      (_, index) => beforeAttempt - 1 - index,
    );
    const ids = earlier.map((attempt) => `${visitUuid}:${attempt}`);
    const calls = await this.dataSource.getRepository(RuntimeCallEntity).findBy({ commandId: In(ids) });
    return ids.map((id) => calls.find(({ commandId }) => commandId === id)).find((call) => call) ?? null;
  }

  /** The answer of a call that succeeded, while it is kept. */
  async output(commandId: string): Promise<RuntimeOutput | null> {
    const kept = await this.dataSource.getRepository(RuntimeCallOutputEntity).findOneBy({ commandId });
    return kept?.output ?? null;
  }

  async #commit(
    batch: readonly LedgerEntry[],
    statement: string,
    parameters: unknown[][],
  ): Promise<MemberOutcome<boolean>[]> {
    const rows = await this.dataSource.query<{ command_id: string }[]>(statement, parameters);
    const written = new Set(rows.map(({ command_id }) => command_id));
    return batch.map(({ commandId }) => ({ ok: true, value: written.has(commandId) }));
  }
}

/** A lost connection, for one: whether the commit was made is not known, so none of it is tried again. */
function saysNothingOfItsMembers(error: unknown): boolean {
  const code = errorCode(error);
  return code === undefined || !/^[0-9A-Z]{5}$/.test(code) || CONNECTION_CLASSES.test(code);
}
