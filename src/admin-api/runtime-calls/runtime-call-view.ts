import { usageOf, type RuntimeCallEntity } from '../../runtime-adapters/index.js';

/** A call as lists show it (contract.md). */
export function runtimeCallView(call: RuntimeCallEntity) {
  return {
    commandId: call.commandId,
    runId: call.runId,
    nodeId: call.nodeId,
    visitUuid: call.visitUuid,
    correlationId: call.correlationId,
    status: call.status,
    provider: call.provider,
    providerRequestId: call.providerRequestId,
    agentKey: call.agentKey,
    version: call.agentVersion,
    slotKey: call.slotKey,
    scenario: call.scenario,
    actor: call.actor,
    envelopeId: call.envelopeId,
    snapshotId: call.snapshotId,
    outputSummary: call.outputSummary,
    finishReason: call.finishReason,
    usage: usageOf(call),
    durationMs: call.durationMs === null ? null : Number(call.durationMs),
    toolCalls: call.toolCalls,
    traceability: call.traceability,
    attribution: call.attribution,
    reconciled: call.reconciled,
    failure: call.failure,
    requestedAt: call.requestedAt.toISOString(),
    startedAt: call.startedAt?.toISOString() ?? null,
    completedAt: call.completedAt?.toISOString() ?? null,
  };
}
export type RuntimeCallView = ReturnType<typeof runtimeCallView>;

/** The same with what was allowed to leave, what was kept back and what was sent, by digests. */
export function runtimeCallDetail(call: RuntimeCallEntity) {
  return {
    ...runtimeCallView(call),
    providerRef: call.providerRef,
    envelope: call.envelope,
    trimmed: call.trimmed,
    snapshot: call.snapshot,
  };
}
export type RuntimeCallDetail = ReturnType<typeof runtimeCallDetail>;
