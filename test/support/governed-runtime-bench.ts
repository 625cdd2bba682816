import { randomUUID } from 'node:crypto';
import type { DataSource } from 'typeorm';
import { SecretRedactor } from '../../src/credentials/index.js';
import type { CallLedger } from '../../src/runtime-adapters/ledger/call-ledger.js';
import type { CallOwners } from '../../src/runtime-adapters/ledger/call-owners.js';
import type { GovernedRuntime } from '../../src/runtime-adapters/ledger/governed-runtime.js';
import type { RecoverRuntimeCall } from '../../src/runtime-adapters/ledger/recover-runtime-call.js';
import type { OwnTerms } from '../../src/runtime-adapters/ledger/request-digest.js';
import { createRuntimeGovernance } from '../../src/runtime-adapters/ledger/runtime-governance.js';
import type { ForgetCallOutputs } from '../../src/runtime-adapters/ledger/forget-call-outputs.js';
import type { SettleOrphanedCalls } from '../../src/runtime-adapters/ledger/settle-orphaned-calls.js';
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
  readonly outputs: ForgetCallOutputs;

  constructor(
    readonly dataSource: DataSource,
    { hasLogAccess = () => false }: { hasLogAccess?: () => boolean } = {},
  ) {
    const governance = createRuntimeGovernance({
      dataSource,
      router: this.runtimes,
      policies: this.policies,
      redactor: this.redactor,
      credentials: { resolve: () => Promise.reject(new Error('no credential is configured')) },
      hasLogAccess,
      owner: `process-${randomUUID()}`,
      ownerLostSeconds: 30,
      onError: (error) => void this.defects.push(error),
    });
    this.orphans = governance.settleOrphans;
    this.outputs = governance.forgetOutputs;
    this.ledger = governance.ledger;
    this.owners = governance.owners;
    this.runtime = governance.runtime;
    this.recover = governance.recover;
  }

  async run(
    request: AgentRuntimeRequest,
    signal = new AbortController().signal,
    own?: OwnTerms,
  ): Promise<AgentRuntimeEvent[]> {
    const events: AgentRuntimeEvent[] = [];
    for await (const event of this.runtime.execute(request, signal, own)) events.push(event);
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
