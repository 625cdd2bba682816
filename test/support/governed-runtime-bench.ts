import { randomUUID } from 'node:crypto';
import type { DataSource } from 'typeorm';
import { SecretRedactor } from '../../src/credentials/index.js';
import { CallLedger } from '../../src/runtime-adapters/ledger/call-ledger.js';
import { CallOwners } from '../../src/runtime-adapters/ledger/call-owners.js';
import { GovernedRuntime } from '../../src/runtime-adapters/ledger/governed-runtime.js';
import { InFlightCalls } from '../../src/runtime-adapters/ledger/in-flight-calls.js';
import { RecoverRuntimeCall } from '../../src/runtime-adapters/ledger/recover-runtime-call.js';
import { RepeatedCall } from '../../src/runtime-adapters/ledger/repeated-call.js';
import { SendGovernedCall } from '../../src/runtime-adapters/ledger/send-governed-call.js';
import { SettleOrphanedCalls } from '../../src/runtime-adapters/ledger/settle-orphaned-calls.js';
import {
  ENVELOPE_PARTS,
  VersionPolicies,
  type VersionPolicy,
} from '../../src/runtime-adapters/permission/envelope-policy.js';
import type { AgentRuntimeEvent } from '../../src/runtime-adapters/protocol/agent-runtime-event.js';
import type { AgentRuntimeRequest } from '../../src/runtime-adapters/protocol/agent-runtime-request.js';
import type { AgentRuntimeResponse } from '../../src/runtime-adapters/protocol/agent-runtime-response.js';
import { NEW_API } from '../factories/runtime-request.js';
import { ScriptedRuntimes } from './scripted-runtimes.js';

/** One policy for every version, to be changed by the test. */
export class OnePolicy extends VersionPolicies {
  policy: VersionPolicy | null = {
    status: 'PUBLISHED',
    provider: NEW_API,
    envelope: { allow: ENVELOPE_PARTS, maxChars: 1000 },
    tools: [],
    budgetTokens: null,
    requireSourceRefs: false,
  };

  find(): Promise<VersionPolicy | null> {
    return Promise.resolve(this.policy);
  }
}

/** The governed runtime of one process, wired as the module does it, over scripted runtimes. */
export class GovernedRuntimeBench {
  readonly runtimes = new ScriptedRuntimes();
  readonly policies = new OnePolicy();
  readonly redactor = new SecretRedactor();
  readonly defects: unknown[] = [];
  readonly ledger: CallLedger;
  readonly owners: CallOwners;
  readonly runtime: GovernedRuntime;
  readonly recover: RecoverRuntimeCall;
  readonly orphans: SettleOrphanedCalls;

  constructor(readonly dataSource: DataSource) {
    const report = (error: unknown): void => void this.defects.push(error);
    const now = (): Date => new Date();
    this.ledger = new CallLedger(dataSource);
    this.owners = new CallOwners(`process-${randomUUID()}`, dataSource, report);
    const inFlight = new InFlightCalls();
    const send = new SendGovernedCall(this.runtimes, this.ledger, this.redactor, {
      keepOutputMillis: 60_000,
      reconcileAfter: () => null,
      now,
      onDefect: report,
    });
    const { ledger, owners, policies, redactor } = this;
    const repeated = new RepeatedCall(ledger, now);
    this.runtime = new GovernedRuntime({
      ledger,
      owners,
      inFlight,
      policies,
      repeated,
      send,
      redactor,
      now,
    });
    this.recover = new RecoverRuntimeCall(this.runtimes, ledger, inFlight, policies, send, redactor);
    this.orphans = new SettleOrphanedCalls(
      dataSource,
      ledger,
      owners,
      this.runtimes,
      this.recover,
      send,
      report,
    );
  }

  async run(
    request: AgentRuntimeRequest,
    signal = new AbortController().signal,
  ): Promise<AgentRuntimeEvent[]> {
    const events: AgentRuntimeEvent[] = [];
    for await (const event of this.runtime.execute(request, signal)) events.push(event);
    return events;
  }

  async response(request: AgentRuntimeRequest): Promise<AgentRuntimeResponse> {
    const last = (await this.run(request)).at(-1);
    if (!last || !('response' in last)) throw new Error('no response came');
    return last.response;
  }

  stop(): void {
    this.owners.stop();
  }
}
