import { attributionOf, statusOf } from './call-status.js';
import type { EndedCall, LedgerEntry, RequestedCall, StartedCall } from './ledger-entry.js';

/**
 * A shared commit of the ledger as one statement. A command that is there already is left as it is; a call that has
 * ended stays ended, except that an answer which comes late replaces `UNKNOWN`. Returns what was written, as
 * `requested` and `ended` with the command's id.
 */
export const LEDGER_STATEMENT = `
WITH requested AS (
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
  RETURNING command_id
), started AS (
  UPDATE runtime_calls c
     SET status = 'STARTED', started_at = coalesce(c.started_at, s.at),
         provider_request_id = coalesce(s.provider_request_id::json, c.provider_request_id),
         recovery = coalesce(s.recovery::json, c.recovery)
    FROM unnest($21::text[], $22::text[], $23::text[], $24::timestamptz[])
      AS s(command_id, provider_request_id, recovery, at)
   WHERE c.command_id = s.command_id AND c.status IN ('REQUESTED', 'STARTED')
), ended AS (
  UPDATE runtime_calls c
     SET status = e.status, completed_at = e.at, output_summary = e.summary::json, finish_reason = e.finish_reason,
         traceability = e.traceability, failure = e.failure::json, attribution = e.attribution,
         provider_request_id = coalesce(e.provider_request_id::json, c.provider_request_id),
         prompt_tokens = e.prompt_tokens, completion_tokens = e.completion_tokens, total_tokens = e.total_tokens,
         duration_ms = coalesce(e.duration_ms, round(extract(epoch FROM e.at - c.requested_at) * 1000)),
         cost_amount = e.cost_amount, cost_currency = e.cost_currency, tool_calls = e.tool_calls,
         reconcile_after = e.reconcile_after
    FROM unnest($25::text[], $26::text[], $27::timestamptz[], $28::text[], $29::text[], $30::text[], $31::text[],
                $32::text[], $33::text[], $34::bigint[], $35::bigint[], $36::bigint[], $37::bigint[], $38::numeric[],
                $39::text[], $40::integer[], $41::timestamptz[])
      AS e(command_id, status, at, summary, finish_reason, traceability, failure,
           attribution, provider_request_id, prompt_tokens, completion_tokens, total_tokens, duration_ms, cost_amount,
           cost_currency, tool_calls, reconcile_after)
   WHERE c.command_id = e.command_id
     AND (c.status IN ('REQUESTED', 'STARTED') OR (c.status = 'UNKNOWN' AND e.status <> 'UNKNOWN'))
  RETURNING c.command_id
), kept AS (
  INSERT INTO runtime_call_outputs (command_id, output, kept_until)
  SELECT o.command_id, o.output::json, o.kept_until
    FROM unnest($42::text[], $43::text[], $44::timestamptz[]) AS o(command_id, output, kept_until)
    JOIN ended USING (command_id)
)
SELECT 'requested' AS kind, command_id FROM requested UNION ALL SELECT 'ended', command_id FROM ended`;

/** The arrays of LEDGER_STATEMENT, filled row by row. */
export function ledgerParameters(entries: readonly LedgerEntry[]): unknown[][] {
  const requested: unknown[][] = [];
  const started: unknown[][] = [];
  const ended: unknown[][] = [];
  const outputs: unknown[][] = [];
  for (const entry of entries) {
    switch (entry.kind) {
      case 'requested':
        requested.push(requestedRow(entry));
        break;
      case 'started':
        started.push(startedRow(entry));
        break;
      case 'ended':
        ended.push(endedRow(entry));
        if (entry.response.output) {
          outputs.push([entry.commandId, json(entry.response.output), entry.keepOutputUntil]);
        }
        break;
    }
  }
  return [...columns(requested, 20), ...columns(started, 4), ...columns(ended, 17), ...columns(outputs, 3)];
}

function requestedRow(call: RequestedCall): unknown[] {
  const { agentRef, envelope, snapshot } = call;
  return [
    call.commandId,
    call.requestDigest,
    agentRef.provider.runtimeProvider,
    json(agentRef.provider),
    agentRef.agentKey,
    agentRef.version,
    agentRef.slotKey,
    call.runId,
    call.visitUuid,
    json(call.correlationId),
    json(call.actor),
    json(call.scenario),
    envelope?.id ?? null,
    json(envelope),
    json(call.trimmed),
    snapshot?.id ?? null,
    json(snapshot),
    call.owner,
    call.at,
    call.deadlineAt,
  ];
}

function startedRow(call: StartedCall): unknown[] {
  return [call.commandId, json(call.providerRequestId), json(call.recovery), call.at];
}

function endedRow({ commandId, response, toolCalls, reconcileAfter, at }: EndedCall): unknown[] {
  const { usage, provider, providerRequestId } = response;
  const cost = costOf(response);
  return [
    commandId,
    statusOf(response),
    at,
    json(response.outputSummary),
    response.finishReason,
    response.traceability,
    json(response.failure),
    attributionOf(provider, providerRequestId),
    json(providerRequestId),
    count(usage?.promptTokens),
    count(usage?.completionTokens),
    count(usage?.totalTokens),
    count(usage?.durationMs),
    cost?.amount ?? null,
    cost?.currency ?? null,
    toolCalls,
    reconcileAfter,
  ];
}

/** A provider's number, or null where it is none that can be summed up. */
function count(value: number | null | undefined): number | null {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0
    ? Math.min(Math.round(value), Number.MAX_SAFE_INTEGER)
    : null;
}

function costOf({ usage }: EndedCall['response']): { amount: string; currency: string } | null {
  const cost = usage?.cost;
  if (!cost || !/^\d{1,20}(\.\d{1,20})?$/.test(cost.amount) || !/^[A-Za-z]{1,10}$/.test(cost.currency))
    return null;
  return cost;
}

function json(value: unknown): string | null {
  return value === null || value === undefined ? null : JSON.stringify(value);
}

function columns(rows: readonly unknown[][], width: number): unknown[][] {
  return Array.from({ length: width }, (_, column) => rows.map((row) => row[column] ?? null));
}
