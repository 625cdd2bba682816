import type { DataSource } from 'typeorm';
import type { Credentials, SecretRedactor } from '../../credentials/index.js';
import type { VersionPolicies } from '../permission/envelope-policy.js';
import { CallLedger } from './call-ledger.js';
import { CallOwners } from './call-owners.js';
import { attributionOf } from './call-status.js';
import { ForgetCallOutputs } from './forget-call-outputs.js';
import { GovernedRuntime } from './governed-runtime.js';
import { InFlightCalls } from './in-flight-calls.js';
import { ReadNewApiLog } from './read-new-api-log.js';
import { FIRST_TRY_SECONDS, ReconcileUsage } from './reconcile-usage.js';
import { RecoverRuntimeCall } from './recover-runtime-call.js';
import { RepeatedCall } from './repeated-call.js';
import type { RuntimeRouting } from './runtime-routing.js';
import { SendGovernedCall } from './send-governed-call.js';
import { SettleOrphanedCalls } from './settle-orphaned-calls.js';

/** Answers that no visit waits for are kept that long. */
const KEEP_OUTPUT_MILLIS = 60 * 60_000;

export interface RuntimeGovernanceParts {
  dataSource: DataSource;
  router: RuntimeRouting;
  policies: VersionPolicies;
  redactor: SecretRedactor;
  credentials: Pick<Credentials, 'resolve'>;
  /** Whether New-API's log may be read with this credential. */
  hasLogAccess: (credentialRef: string) => boolean;
  /** Names this process among all that share the database; another one at each start. */
  owner: string;
  /** Seconds after which a silent process is taken to be gone. */
  ownerLostSeconds: number;
  /** Told of what goes wrong where nobody waits for it. */
  onError: (error: unknown) => void;
  now?: () => Date;
}

/** Everything around the router that makes its calls governed: one object of each, wired once. */
export interface RuntimeGovernance {
  runtime: GovernedRuntime;
  recover: RecoverRuntimeCall;
  ledger: CallLedger;
  owners: CallOwners;
  settleOrphans: SettleOrphanedCalls;
  forgetOutputs: ForgetCallOutputs;
  reconcile: ReconcileUsage;
}

export function createRuntimeGovernance(parts: RuntimeGovernanceParts): RuntimeGovernance {
  const { dataSource, router, policies, redactor, onError, now = () => new Date() } = parts;
  const ledger = new CallLedger(dataSource);
  const owners = new CallOwners(parts.owner, dataSource, onError);
  const inFlight = new InFlightCalls();
  const send = new SendGovernedCall(router, ledger, redactor, {
    keepOutputMillis: KEEP_OUTPUT_MILLIS,
    now,
    onDefect: onError,
    reconcileAfter: ({ providerRequestId }, { provider }) => {
      if (provider.runtimeProvider !== 'new-api') return null;
      if (attributionOf('new-api', providerRequestId) !== 'attributed') return null;
      if (!parts.hasLogAccess(provider.newApi.credentialRef)) return null;
      return new Date(now().getTime() + FIRST_TRY_SECONDS * 1000);
    },
  });
  const repeated = new RepeatedCall(ledger, now);
  const recover = new RecoverRuntimeCall(router, ledger, inFlight, policies, send, redactor);
  return {
    runtime: new GovernedRuntime({
      ledger,
      owners,
      inFlight,
      policies,
      repeated,
      recover,
      send,
      redactor,
      now,
    }),
    recover,
    ledger,
    owners,
    settleOrphans: new SettleOrphanedCalls(dataSource, {
      ledger,
      owners,
      inFlight,
      router,
      recover,
      send,
      ownerLostSeconds: parts.ownerLostSeconds,
      onError,
    }),
    forgetOutputs: new ForgetCallOutputs(dataSource),
    reconcile: new ReconcileUsage(dataSource, new ReadNewApiLog(parts.credentials), onError),
  };
}
