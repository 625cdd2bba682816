import type { DataSource } from 'typeorm';
import { deadline } from '../../common/time/deadline.js';
import { orAborted } from '../http-sse/patient-reader.js';
import type { CallLedger } from './call-ledger.js';
import type { CallOwners } from './call-owners.js';
import { isOpen } from './call-status.js';
import type { InFlightCalls } from './in-flight-calls.js';
import { pendingCall, type RecoverRuntimeCall } from './recover-runtime-call.js';
import type { RuntimeRouting } from './runtime-routing.js';
import type { SendGovernedCall } from './send-governed-call.js';
import { refusedResponse } from '../protocol/runtime-unavailable.js';
import { failureOf } from '../protocol/failure-classification.js';

/** Calls that are settled at the same time at the most. */
const AT_ONCE = 100;

/** Longest that one provider is asked how a call ended. */
const RECOVERY_MILLIS = 10 * 60_000;

/** Longest that one pass waits; a call whose provider takes longer must not keep the next ones from being seen. */
const PASS_MILLIS = 5_000;

export interface SettleOrphanedCallsParts {
  ledger: CallLedger;
  owners: CallOwners;
  inFlight: InFlightCalls;
  router: Pick<RuntimeRouting, 'cancel'>;
  recover: RecoverRuntimeCall;
  send: Pick<SendGovernedCall, 'record'>;
  /** Seconds after which a silent process is taken to be gone. */
  ownerLostSeconds: number;
  /** Told of a call that could not be settled this time. */
  onError: (error: unknown) => void;
}

/**
 * Ends the calls that nobody else will ask for, because their process is gone or because their end could not be
 * recorded: those of no visit, and those whose visit has ended meanwhile; the latter are stopped first. Calls of
 * running visits are their engine's to recover.
 */
export class SettleOrphanedCalls {
  readonly #settling = new Map<string, Promise<boolean>>();

  constructor(
    private readonly dataSource: DataSource,
    private readonly parts: SettleOrphanedCallsParts,
  ) {}

  /**
   * One pass; returns how many of the calls it found are settled by its end. What takes longer goes on beside the next
   * passes, until `stop` ends it.
   */
  async execute(stop: AbortSignal): Promise<number> {
    let settled = 0;
    const begun = (await this.#orphans()).map(async (orphan) => {
      const settling = this.#settle(orphan, stop).finally(() => this.#settling.delete(orphan.commandId));
      this.#settling.set(orphan.commandId, settling);
      if (await settling) settled += 1;
    });
    const patience = deadline(PASS_MILLIS, stop);
    await orAborted(Promise.all(begun), patience.signal).finally(patience.close);
    return settled;
  }

  /** Resolves when nothing is being settled any more; to be asked after `stop` was aborted. */
  async idle(): Promise<void> {
    await Promise.all(this.#settling.values());
  }

  async #orphans(): Promise<{ commandId: string; owner: string; ofVisit: boolean }[]> {
    const found = await this.dataSource.query<{ commandId: string; owner: string; ofVisit: boolean }[]>(
      `SELECT c.command_id AS "commandId", c.owner, c.visit_uuid IS NOT NULL AS "ofVisit"
         FROM runtime_calls c LEFT JOIN runtime_call_owners o ON o.owner = c.owner
        WHERE c.status IN ('REQUESTED', 'STARTED')
          AND (c.owner <> $1 AND coalesce(o.seen_at, c.requested_at) < now() - make_interval(secs => $2)
               OR c.deadline_at < now() - interval '1 min')
          AND NOT EXISTS (SELECT 1 FROM visits v WHERE v.visit_uuid = c.visit_uuid AND v.status = 'RUNNING')
          AND c.command_id <> ALL($3)
        ORDER BY c.requested_at LIMIT $4`,
      [
        this.parts.owners.me,
        this.parts.ownerLostSeconds,
        [...this.#settling.keys()],
        AT_ONCE - this.#settling.size,
      ],
    );
    return found.filter(({ commandId }) => !this.parts.inFlight.executing(commandId));
  }

  async #settle(
    orphan: { commandId: string; owner: string; ofVisit: boolean },
    stop: AbortSignal,
  ): Promise<boolean> {
    this.parts.owners.begin();
    try {
      if (!(await this.#claim(orphan))) return false;
      if (orphan.ofVisit && (await this.#cancelled(orphan.commandId))) return true;
      await this.parts.recover.execute(orphan.commandId, stop, RECOVERY_MILLIS);
      return true;
    } catch (error) {
      // Given back, so that a later pass tries again, here or elsewhere.
      await this.#giveBack(orphan);
      if (!stop.aborted) this.parts.onError(error);
      return false;
    } finally {
      this.parts.owners.end();
    }
  }

  async #claim({ commandId, owner }: { commandId: string; owner: string }): Promise<boolean> {
    const [claimed] = await this.dataSource.query<[{ command_id: string }[], number]>(
      `UPDATE runtime_calls SET owner = $1
        WHERE command_id = $2 AND owner = $3 AND status IN ('REQUESTED', 'STARTED') RETURNING command_id`,
      [this.parts.owners.me, commandId, owner],
    );
    return claimed.length === 1;
  }

  async #giveBack({ commandId, owner }: { commandId: string; owner: string }): Promise<void> {
    await this.dataSource
      .query(`UPDATE runtime_calls SET owner = $1 WHERE command_id = $2 AND owner = $3`, [
        owner,
        commandId,
        this.parts.owners.me,
      ])
      .catch(this.parts.onError);
  }

  /** Stops what a run that has ended left running at its provider. */
  async #cancelled(commandId: string): Promise<boolean> {
    const call = await this.parts.ledger.find(commandId);
    if (!call || !isOpen(call.status) || call.providerRequestId === null) return false;
    if (!(await this.parts.router.cancel(pendingCall(call)))) return false;
    const stopped = refusedResponse(
      call.provider,
      failureOf('outcome_unknown', 'stopped after its run ended'),
    );
    await this.parts.send.record(
      commandId,
      {
        ...stopped,
        status: 'cancelled',
        finishReason: 'cancelled',
        failure: null,
        providerRequestId: call.providerRequestId,
      },
      call.toolCalls,
    );
    return true;
  }
}
