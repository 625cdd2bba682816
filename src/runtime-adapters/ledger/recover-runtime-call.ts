import { deadline } from '../../common/time/deadline.js';
import type { AgentRuntimeResponse } from '../protocol/agent-runtime-response.js';
import type { PendingRuntimeCall } from '../protocol/agent-runtime-adapter.js';
import { failureOf } from '../protocol/failure-classification.js';
import { refusedResponse } from '../protocol/runtime-unavailable.js';
import type { SecretRedactor } from '../../credentials/index.js';
import { policyOf, type VersionPolicies } from '../permission/envelope-policy.js';
import { acceptResponse } from './accept-response.js';
import type { CallLedger } from './call-ledger.js';
import { isOpen } from './call-status.js';
import type { InFlightCalls } from './in-flight-calls.js';
import type { RuntimeCallEntity } from './runtime-call.entity.js';
import type { RuntimeRouting } from './runtime-routing.js';
import type { SendGovernedCall } from './send-governed-call.js';
import { storedResponse } from './stored-response.js';

/** What became of a call that its caller lost sight of (decision 32). */
export type RecoveredCall =
  /** It ended so; the caller goes on with this response and sends nothing. */
  | { kind: 'ended'; response: AgentRuntimeResponse }
  /** Nothing was sent, or our own bridge's work was lost with its process: a further attempt may be made. */
  | { kind: 'execute-again' };

/**
 * Finds out how a call ended after a crash, by the ledger and by asking its provider; never sends it again. What
 * cannot be found out ends as `outcome_unknown`.
 */
export class RecoverRuntimeCall {
  constructor(
    private readonly router: Pick<RuntimeRouting, 'recover'>,
    private readonly ledger: CallLedger,
    private readonly inFlight: InFlightCalls,
    private readonly policies: VersionPolicies,
    private readonly send: Pick<SendGovernedCall, 'record'>,
    private readonly redactor: SecretRedactor,
  ) {}

  /**
   * Throws the signal's reason where it is given up before the provider has told: the call stays as it is, for whoever
   * asks next. After `withinMillis` it ends as unknown instead.
   */
  async execute(commandId: string, signal: AbortSignal, withinMillis?: number): Promise<RecoveredCall> {
    const here = this.inFlight.executing(commandId);
    if (here) return { kind: 'ended', response: await here.ended };
    const call = await this.ledger.find(commandId);
    if (!call) return { kind: 'execute-again' };
    if (!isOpen(call.status)) return this.#ofEnded(call);
    return this.#ofOpen(call, signal, withinMillis);
  }

  /**
   * The same for the calls of a visit that a crash cut off, before it makes the attempt `beforeAttempt`: whichever
   * attempt has sent last counts. A failure that may be tried again leaves the visit to its own retries.
   */
  async ofVisit(visitUuid: string, beforeAttempt: number, signal: AbortSignal): Promise<RecoveredCall> {
    const call = await this.ledger.newestOfVisit(visitUuid, beforeAttempt);
    if (!call || (!isOpen(call.status) && call.failure?.retryable)) return { kind: 'execute-again' };
    return this.execute(call.commandId, signal);
  }

  async #ofEnded(call: RuntimeCallEntity): Promise<RecoveredCall> {
    // Its provider confirmed that it stopped, as when the server was shut down: nothing runs any more.
    if (call.status === 'CANCELLED') return { kind: 'execute-again' };
    const output = await this.ledger.output(call.commandId);
    const lost = call.status === 'UNKNOWN' || (call.status === 'SUCCEEDED' && !output);
    if (lost && call.provider === 'hermes') return { kind: 'execute-again' };
    if (call.status === 'SUCCEEDED' && !output) {
      return {
        kind: 'ended',
        response: unknown(call, 'the call succeeded, but its answer is no longer kept'),
      };
    }
    return { kind: 'ended', response: storedResponse(call, output) };
  }

  async #ofOpen(call: RuntimeCallEntity, signal: AbortSignal, withinMillis?: number): Promise<RecoveredCall> {
    if (call.provider === 'hermes') {
      await this.send.record(call.commandId, unknown(call, 'the process that executed the call ended'), 0);
      return { kind: 'execute-again' };
    }
    const response =
      call.providerRequestId === null && call.recovery === null
        ? unknown(call, 'the call was sent, and the process ended before its provider answered')
        : await this.#poll(call, signal, withinMillis);
    // A server that stops, a run that is cancelled or taken over: none of them is an end of the call.
    if (response.failure?.type === 'outcome_unknown') signal.throwIfAborted();
    await this.send.record(call.commandId, response, call.toolCalls, requestOf(call));
    return { kind: 'ended', response };
  }

  async #poll(
    call: RuntimeCallEntity,
    signal: AbortSignal,
    withinMillis = Infinity,
  ): Promise<AgentRuntimeResponse> {
    const agentRef = agentRefOf(call);
    const policy = await policyOf(agentRef, this.policies);
    const within = deadline(withinMillis, signal);
    const response = await this.router.recover(pendingCall(call), within.signal).finally(within.close);
    return acceptResponse(call.commandId, response, policy, this.redactor);
  }
}

/** The call as its adapter needs it to ask for it or to stop it. */
export function pendingCall(call: RuntimeCallEntity): PendingRuntimeCall {
  return {
    commandId: call.commandId,
    correlationId: call.correlationId,
    provider: call.providerRef,
    providerRequestId: call.providerRequestId,
    agentKey: call.agentKey,
    recovery: call.recovery ?? {},
  };
}

function agentRefOf(call: RuntimeCallEntity): Parameters<typeof policyOf>[0] {
  const { agentKey, agentVersion, slotKey, providerRef } = call;
  return { agentKey, version: agentVersion, slotKey, provider: providerRef };
}

function requestOf(call: RuntimeCallEntity): Parameters<SendGovernedCall['record']>[3] {
  return { agentRef: agentRefOf(call), auditPolicy: { level: 'summary' } };
}

function unknown(call: RuntimeCallEntity, why: string): AgentRuntimeResponse {
  return {
    ...refusedResponse(call.provider, failureOf('outcome_unknown', why)),
    providerRequestId: call.providerRequestId,
  };
}
