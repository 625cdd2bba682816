import type { RequestedCall } from './ledger-entry.js';
import { columnsOf, jsonText } from './statement-columns.js';

/**
 * The intents of a shared commit. A command that is there already is left as it is; returns the ids of those that
 * were not. Run and visit give what the ledger is filtered and rolled up by.
 */
export const REQUEST_STATEMENT = `
INSERT INTO runtime_calls (command_id, request_digest, status, provider, provider_ref, agent_key, agent_version,
                           slot_key, run_id, workflow_id, visit_uuid, node_id, correlation_id, actor, scenario,
                           envelope_id, envelope, trimmed, snapshot_id, snapshot, owner, requested_at, deadline_at)
SELECT q.command_id, q.digest, 'REQUESTED', q.provider, q.provider_ref::json, q.agent_key, q.agent_version,
       q.slot_key, q.run_id, r.workflow_id, q.visit_uuid, v.node_id, q.correlation_id::json, q.actor::json,
       q.scenario::json, q.envelope_id, q.envelope::json, q.trimmed::json, q.snapshot_id, q.snapshot::json,
       q.owner, q.requested_at, q.deadline_at
  FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::integer[], $7::text[], $8::text[],
              $9::uuid[], $10::text[], $11::text[], $12::text[], $13::uuid[], $14::text[], $15::text[],
              $16::uuid[], $17::text[], $18::text[], $19::timestamptz[], $20::timestamptz[])
    AS q(command_id, digest, provider, provider_ref, agent_key, agent_version, slot_key, run_id,
         visit_uuid, correlation_id, actor, scenario, envelope_id, envelope, trimmed,
         snapshot_id, snapshot, owner, requested_at, deadline_at)
  LEFT JOIN runs r ON r.run_id = q.run_id
  LEFT JOIN visits v ON v.visit_uuid = q.visit_uuid
ON CONFLICT (command_id) DO NOTHING
RETURNING command_id`;

/** The arrays of REQUEST_STATEMENT, filled row by row. */
export function requestParameters(calls: readonly RequestedCall[]): unknown[][] {
  return columnsOf(calls.map(requestedRow), 20);
}

function requestedRow(call: RequestedCall): unknown[] {
  const { agentRef, envelope, snapshot } = call;
  return [
    call.commandId,
    call.requestDigest,
    agentRef.provider.runtimeProvider,
    jsonText(agentRef.provider),
    agentRef.agentKey,
    agentRef.version,
    agentRef.slotKey,
    call.runId,
    call.visitUuid,
    jsonText(call.correlationId),
    jsonText(call.actor),
    jsonText(call.scenario),
    envelope?.id ?? null,
    jsonText(envelope),
    jsonText(call.trimmed),
    snapshot?.id ?? null,
    jsonText(snapshot),
    call.owner,
    call.at,
    call.deadlineAt,
  ];
}
