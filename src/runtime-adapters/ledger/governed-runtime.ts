import type { JsonValue } from '../../common/json/json-value.js';
import type { SecretRedactor } from '../../credentials/index.js';
import { policyOf, type VersionPolicies, type VersionPolicy } from '../permission/envelope-policy.js';
import { issueEnvelope } from '../permission/permission-envelope.js';
import { passGate } from '../permission/permission-gate.js';
import { snapshotOf } from '../permission/source-snapshot.js';
import type { AgentRuntimeEvent } from '../protocol/agent-runtime-event.js';
import type { AgentRuntimeRequest } from '../protocol/agent-runtime-request.js';
import { failureOf } from '../protocol/failure-classification.js';
import { finalEvent } from '../protocol/final-events.js';
import { refusedResponse } from '../protocol/runtime-unavailable.js';
import type { CallLedger } from './call-ledger.js';
import type { CallOwners } from './call-owners.js';
import type { InFlightCall, InFlightCalls } from './in-flight-calls.js';
import type { RecoverRuntimeCall, RecoveredCall } from './recover-runtime-call.js';
import type { RepeatedCall } from './repeated-call.js';
import { requestDigest, type OwnTerms } from './request-digest.js';
import type { GovernedCall, SendGovernedCall } from './send-governed-call.js';

export interface GovernedRuntimeParts {
  ledger: CallLedger;
  owners: CallOwners;
  inFlight: InFlightCalls;
  policies: VersionPolicies;
  repeated: RepeatedCall;
  recover: RecoverRuntimeCall;
  send: SendGovernedCall;
  redactor: SecretRedactor;
  now: () => Date;
}

/**
 * The one way to an agent runtime: the router behind the permission gate and the call ledger. The intent is stored
 * before the first byte goes out, what may leave is decided by the version's policy, and a command is sent once:
 * repeats get the first call's events `requested` and last only.
 */
export class GovernedRuntime {
  constructor(private readonly parts: GovernedRuntimeParts) {}

  /**
   * The last event carries the response, also of a refusal. Throws CommandConflictError, and the database's error
   * where the ledger cannot be written; then nothing goes out, or what went out is stopped. `own` is what of the
   * request's policies the caller said itself.
   */
  async *execute(
    request: AgentRuntimeRequest,
    signal: AbortSignal,
    own: OwnTerms = {},
  ): AsyncGenerator<AgentRuntimeEvent> {
    const { inFlight, owners, repeated } = this.parts;
    const digest = requestDigest(request, own);
    const first = inFlight.get(request.commandId);
    if (first) {
      yield* repeated.ofCallHere(first, digest, signal);
      return;
    }
    const call = inFlight.begin(request.commandId, digest);
    owners.begin();
    try {
      for await (const event of this.#executeFirst(request, call, signal)) {
        if ('response' in event) call.settle(event.response);
        yield event;
      }
    } catch (error) {
      call.fail(error);
      throw error;
    } finally {
      owners.end();
      inFlight.end(call);
    }
  }

  /** What became of a visit's calls before a crash; to be asked before the visit makes `attempt` (decision 32). */
  recoverVisit(visitUuid: string, attempt: number, signal: AbortSignal): Promise<RecoveredCall> {
    return this.parts.recover.ofVisit(visitUuid, attempt, signal);
  }

  async *#executeFirst(
    request: AgentRuntimeRequest,
    call: InFlightCall,
    signal: AbortSignal,
  ): AsyncGenerator<AgentRuntimeEvent> {
    const digest = call.requestDigest;
    const { ledger, repeated, send, policies, now } = this.parts;
    const policy = await policyOf(request.agentRef, policies);
    const governed = this.#govern(request, policy, now());
    if (!(await ledger.requested(this.#intent(governed, digest)))) {
      call.isRepeat = true;
      yield* repeated.ofStoredCall(request.commandId, digest, signal);
      return;
    }
    yield { type: 'runtime.requested', commandId: request.commandId };
    if (governed.refusal === null && policy) {
      yield* send.execute({ ...governed, policy }, signal);
      return;
    }
    const failure = failureOf('permission_denied', governed.refusal ?? 'there is no policy');
    const response = refusedResponse(governed.request.agentRef.provider.runtimeProvider, failure);
    await send.record(request.commandId, response, 0);
    yield finalEvent(response);
  }

  /** Applies the version's policy: its provider, its envelope, its gate. */
  #govern(
    request: AgentRuntimeRequest,
    policy: VersionPolicy | null,
    issuedAt: Date,
  ): Omit<GovernedCall, 'policy'> & { refusal: string | null } {
    const none = { envelope: null, snapshot: null, trimmed: [], issuedAt };
    const { agentKey, version } = request.agentRef;
    if (!policy) {
      const refusal =
        agentKey === null
          ? 'an agent without agentKey runs in hermes only'
          : `agent ${agentKey} has no version ${String(version)}`;
      return { ...none, request, refusal };
    }
    const routed = { ...request, agentRef: { ...request.agentRef, provider: policy.provider } };
    if (policy.status !== 'PUBLISHED' && request.scenario !== 'trial') {
      const refusal = `version ${String(version)} of agent ${agentKey ?? ''} is not published`;
      return { ...none, request: routed, refusal };
    }
    const envelope = issueEnvelope(routed, policy, issuedAt);
    const gate = passGate(routed, envelope);
    if (!gate.passed) {
      return { ...none, request: routed, envelope, trimmed: gate.trimmed, refusal: gate.reason };
    }
    const snapshot = snapshotOf(gate.request.inputEnvelope);
    return {
      request: { ...gate.request, sourceSnapshotId: snapshot.id },
      envelope,
      snapshot,
      trimmed: gate.trimmed,
      issuedAt,
      refusal: null,
    };
  }

  #intent(
    { request, envelope, snapshot, trimmed, issuedAt }: Omit<GovernedCall, 'policy'>,
    digest: string,
  ): Parameters<CallLedger['requested']>[0] {
    const { commandId, agentRef, taskId, jobId, correlationId, actor, scenario, timeoutPolicy } = request;
    const lastMoment = issuedAt.getTime() + timeoutPolicy.totalSeconds * 1000;
    return {
      ...this.#redacted({ agentRef, correlationId, actor, scenario, envelope, trimmed, snapshot }),
      commandId,
      requestDigest: digest,
      runId: taskId,
      visitUuid: jobId !== null && UUID.test(jobId) ? jobId : null,
      owner: this.parts.owners.me,
      at: issuedAt.toISOString(),
      deadlineAt: envelope?.expiresAt ?? new Date(lastMoment).toISOString(),
    };
  }

  /** References and names come from callers too, and might quote a secret. */
  #redacted<T extends object>(told: T): T {
    return this.parts.redactor.redactDeep(told as JsonValue) as T;
  }
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
