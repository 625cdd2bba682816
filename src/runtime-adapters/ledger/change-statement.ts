import { soundUsage } from '../protocol/sound-answer.js';
import { attributionOf, statusOf } from './call-status.js';
import type { EndedCall, StartedCall } from './ledger-entry.js';
import { columnsOf, jsonText } from './statement-columns.js';

/**
 * Starts and ends of a shared commit as one statement. A call that has ended stays ended, except that an answer which
 * comes late replaces `UNKNOWN`. Returns the ids of the calls whose end was written.
 */
export const CHANGE_STATEMENT = `
WITH started AS (
  UPDATE runtime_calls c
     SET status = 'STARTED', started_at = coalesce(c.started_at, s.at),
         provider_request_id = coalesce(s.provider_request_id::json, c.provider_request_id),
         recovery = coalesce(s.recovery::json, c.recovery)
    FROM unnest($1::text[], $2::text[], $3::text[], $4::timestamptz[])
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
    FROM unnest($5::text[], $6::text[], $7::timestamptz[], $8::text[], $9::text[], $10::text[], $11::text[],
                $12::text[], $13::text[], $14::bigint[], $15::bigint[], $16::bigint[], $17::bigint[], $18::numeric[],
                $19::text[], $20::integer[], $21::timestamptz[])
      AS e(command_id, status, at, summary, finish_reason, traceability, failure,
           attribution, provider_request_id, prompt_tokens, completion_tokens, total_tokens, duration_ms, cost_amount,
           cost_currency, tool_calls, reconcile_after)
   WHERE c.command_id = e.command_id
     AND (c.status IN ('REQUESTED', 'STARTED') OR (c.status = 'UNKNOWN' AND e.status <> 'UNKNOWN'))
  RETURNING c.command_id
), kept AS (
  INSERT INTO runtime_call_outputs (command_id, output, kept_until)
  SELECT o.command_id, o.output::json, o.kept_until
    FROM unnest($22::text[], $23::text[], $24::timestamptz[]) AS o(command_id, output, kept_until)
    JOIN ended USING (command_id)
)
SELECT command_id FROM ended`;

/** The arrays of CHANGE_STATEMENT, filled row by row. */
export function changeParameters(entries: readonly (StartedCall | EndedCall)[]): unknown[][] {
  const started = entries.filter((entry) => entry.kind === 'started');
  const ended = entries.filter((entry) => entry.kind === 'ended');
  const outputs = ended.flatMap(({ commandId, response, keepOutputUntil }) =>
    response.output ? [[commandId, jsonText(response.output), keepOutputUntil]] : [],
  );
  return [
    ...columnsOf(started.map(startedRow), 4),
    ...columnsOf(ended.map(endedRow), 17),
    ...columnsOf(outputs, 3),
  ];
}

function startedRow(call: StartedCall): unknown[] {
  return [call.commandId, jsonText(call.providerRequestId), jsonText(call.recovery), call.at];
}

function endedRow({ commandId, response, toolCalls, reconcileAfter, at }: EndedCall): unknown[] {
  const { provider, providerRequestId } = response;
  const usage = soundUsage(response.usage);
  return [
    commandId,
    statusOf(response),
    at,
    jsonText(response.outputSummary),
    response.finishReason,
    response.traceability,
    jsonText(response.failure),
    attributionOf(provider, providerRequestId),
    jsonText(providerRequestId),
    usage?.promptTokens,
    usage?.completionTokens,
    usage?.totalTokens,
    usage?.durationMs,
    usage?.cost?.amount,
    usage?.cost?.currency,
    toolCalls,
    reconcileAfter,
  ];
}
