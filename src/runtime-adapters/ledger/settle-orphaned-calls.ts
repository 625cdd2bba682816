import type { DataSource } from 'typeorm';
import { deadline } from '../../common/time/deadline.js';
import type { CallLedger } from './call-ledger.js';
import type { CallOwners } from './call-owners.js';
import { isOpen } from './call-status.js';
import type { InFlightCalls } from './in-flight-calls.js';
import { pendingCall, type RecoverRuntimeCall } from './recover-runtime-call.js';
import type { RuntimeRouting } from './runtime-routing.js';
import type { SendGovernedCall } from './send-governed-call.js';
import { refusedResponse } from '../protocol/runtime-unavailable.js';
import { failureOf } from '../protocol/failure-classification.js';

const BATCH = 20;

/** Longest that one pass waits for one provider. */
const RECOVERY_MILLIS = 10 * 60_000;

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
  constructor(
    private readonly dataSource: DataSource,
    private readonly parts: SettleOrphanedCallsParts,
  ) {}

  /** One pass; returns how many calls it settled. */
  async execute(signal: AbortSignal): Promise<number> {
    const orphans = await this.#orphans();
    const mine = orphans.filter(({ commandId }) => !this.parts.inFlight.executing(commandId));
    const settled = await Promise.all(mine.map((orphan) => this.#settle(orphan, signal)));
    return settled.filter(Boolean).length;
  }

  #orphans(): Promise<{ commandId: string; owner: string; ofVisit: boolean }[]> {
    return this.dataSource.query(
      `SELECT c.command_id AS "commandId", c.owner, c.visit_uuid IS NOT NULL AS "ofVisit"
         FROM runtime_calls c LEFT JOIN runtime_call_owners o ON o.owner = c.owner
        WHERE c.status IN ('REQUESTED', 'STARTED')
          AND (c.owner <> $1 AND coalesce(o.seen_at, c.requested_at) < now() - make_interval(secs => $2)
               OR c.deadline_at < now() - interval '1 min')
          AND NOT EXISTS (SELECT 1 FROM visits v WHERE v.visit_uuid = c.visit_uuid AND v.status = 'RUNNING')
        ORDER BY c.requested_at LIMIT $3`,
      [this.parts.owners.me, this.parts.ownerLostSeconds, BATCH],
    );
  }

  async #settle(
    orphan: { commandId: string; owner: string; ofVisit: boolean },
    stop: AbortSignal,
  ): Promise<boolean> {
    this.parts.owners.begin();
    try {
      if (!(await this.#claim(orphan))) return false;
      if (orphan.ofVisit && (await this.#cancelled(orphan.commandId))) return true;
      const { signal, close } = deadline(RECOVERY_MILLIS, stop);
      await this.parts.recover.execute(orphan.commandId, signal).finally(close);
      return true;
    } catch (error) {
      // Given back, so that a later pass tries again, here or elsewhere.
      await this.#giveBack(orphan);
      this.parts.onError(error);
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
