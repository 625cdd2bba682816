import type { DataSource } from 'typeorm';
import type { ProviderRef } from '../protocol/provider-ref.js';
import type { ReadNewApiLog } from './read-new-api-log.js';
import type { ReconciledUsage } from './runtime-call.entity.js';

const BATCH = 20;

/** New-API writes its log late; a request that it still does not know after so many tries is given up. */
const MAX_ATTEMPTS = 8;

/** Seconds until the first try; doubled after each. */
export const FIRST_TRY_SECONDS = 5;

interface DueCall {
  commandId: string;
  providerRef: ProviderRef;
  providerRequestId: string;
  agentKey: string | null;
  attempts: number;
}

/**
 * Puts beside each attributed call what New-API's own log says it cost. What the call itself reported stays; the log
 * is the account.
 */
export class ReconcileUsage {
  constructor(
    private readonly dataSource: DataSource,
    private readonly readLog: Pick<ReadNewApiLog, 'execute'>,
    private readonly onError: (error: unknown) => void,
  ) {}

  /** One pass over the calls that are due; returns how many were reconciled. */
  async execute(signal: AbortSignal): Promise<number> {
    const done = await Promise.all((await this.#claimDue()).map((call) => this.#reconcile(call, signal)));
    return done.filter(Boolean).length;
  }

  /** Moves their next try ahead first, so that no other process asks for them at the same time. */
  async #claimDue(): Promise<DueCall[]> {
    const [claimed] = await this.dataSource.query<[DueCall[], number]>(
      `UPDATE runtime_calls c
          SET reconcile_attempts = reconcile_attempts + 1,
              reconcile_after = CASE WHEN reconcile_attempts + 1 < $1
                THEN now() + make_interval(secs => $2 * power(2, reconcile_attempts + 1)) END
        WHERE command_id IN (SELECT command_id FROM runtime_calls WHERE reconcile_after <= now()
                              ORDER BY reconcile_after LIMIT $3 FOR UPDATE SKIP LOCKED)
        RETURNING command_id AS "commandId", provider_ref AS "providerRef", agent_key AS "agentKey",
                  provider_request_id AS "providerRequestId", reconcile_attempts AS attempts`,
      [MAX_ATTEMPTS, FIRST_TRY_SECONDS, BATCH],
    );
    return claimed;
  }

  async #reconcile(call: DueCall, signal: AbortSignal): Promise<boolean> {
    const { providerRef, providerRequestId, agentKey, commandId } = call;
    if (providerRef.runtimeProvider !== 'new-api') return false;
    const { credentialRef } = providerRef.newApi;
    try {
      const found = await this.readLog.execute(
        { credentialRef, agentKey, requestId: providerRequestId },
        signal,
      );
      if (!found) return false;
      const reconciled: ReconciledUsage = { ...found, at: new Date().toISOString() };
      await this.dataSource.query(
        `UPDATE runtime_calls SET reconciled = $2, reconcile_after = NULL WHERE command_id = $1`,
        [commandId, JSON.stringify(reconciled)],
      );
      return true;
    } catch (error) {
      this.onError(error);
      return false;
    }
  }
}
