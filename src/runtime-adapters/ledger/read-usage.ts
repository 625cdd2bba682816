import type { DataSource } from 'typeorm';

/** By what usage is summed up; what is left out is not told apart. */
export const USAGE_GROUPS = ['day', 'agent', 'workflow', 'provider'] as const;
export type UsageGroup = (typeof USAGE_GROUPS)[number];

export interface UsageQuery {
  groupBy: readonly UsageGroup[];
  /** Inclusive, by the time of the request. */
  from: Date;
  /** Exclusive. */
  to: Date;
  agentKey?: string;
  workflowName?: string;
  offset: number;
  limit: number;
}

/** Sums of the calls of one group. A key that is not grouped by is absent; null where calls have none. */
export interface UsageRow {
  /** `YYYY-MM-DD`, UTC. */
  day?: string;
  agentKey?: string | null;
  workflowName?: string | null;
  provider?: string;
  calls: number;
  succeeded: number;
  failed: number;
  cancelled: number;
  unknown: number;
  promptTokens: number;
  completionTokens: number;
  totalTokens: number;
  durationMs: number;
  toolCalls: number;
  /** As the providers reported it; decimal strings. */
  cost: { amount: string; currency: string }[];
  /** Calls that a request id of New-API attributes, and the others. */
  attributed: number;
  unattributed: number;
  /** Of the attributed calls that New-API's log knows; `quota` in New-API's unit. */
  reconciled: { calls: number; quota: number; promptTokens: number; completionTokens: number };
}

/**
 * Keys that are not grouped by are NULL, and so the same, for all calls. Costs in different currencies cannot be
 * summed up: the inner sums are by currency too.
 */
const STATEMENT = `
WITH chosen AS (
  SELECT CASE WHEN 'day' = ANY($5) THEN to_char(c.requested_at AT TIME ZONE 'UTC', 'YYYY-MM-DD') END AS day,
         CASE WHEN 'agent' = ANY($5) THEN c.agent_key END AS agent_key,
         CASE WHEN 'workflow' = ANY($5) THEN w.name END AS workflow_name,
         CASE WHEN 'provider' = ANY($5) THEN c.provider END AS provider,
         c.status, c.prompt_tokens, c.completion_tokens, c.total_tokens, c.duration_ms, c.tool_calls,
         c.cost_amount, c.cost_currency, c.attribution, c.reconciled
    FROM runtime_calls c LEFT JOIN workflows w ON w.id = c.workflow_id
   WHERE c.requested_at >= $1 AND c.requested_at < $2
     AND ($3::text IS NULL OR c.agent_key = $3) AND ($4::text IS NULL OR w.name = $4)
), by_currency AS (
  SELECT day, agent_key, workflow_name, provider, cost_currency, count(*) AS calls,
         count(*) FILTER (WHERE status = 'SUCCEEDED') AS succeeded,
         count(*) FILTER (WHERE status = 'FAILED') AS failed,
         count(*) FILTER (WHERE status = 'CANCELLED') AS cancelled,
         count(*) FILTER (WHERE status = 'UNKNOWN') AS unknown,
         sum(prompt_tokens) AS prompt_tokens, sum(completion_tokens) AS completion_tokens,
         sum(total_tokens) AS total_tokens, sum(duration_ms) AS duration_ms, sum(tool_calls) AS tool_calls,
         sum(cost_amount) AS cost_amount, count(*) FILTER (WHERE attribution = 'attributed') AS attributed,
         count(reconciled) AS reconciled, sum((reconciled->>'quota')::numeric) AS quota,
         sum((reconciled->>'promptTokens')::numeric) AS reconciled_prompt,
         sum((reconciled->>'completionTokens')::numeric) AS reconciled_completion
    FROM chosen GROUP BY day, agent_key, workflow_name, provider, cost_currency
)
SELECT day, agent_key AS "agentKey", workflow_name AS "workflowName", provider,
       sum(calls)::float8 AS calls, sum(succeeded)::float8 AS succeeded, sum(failed)::float8 AS failed,
       sum(cancelled)::float8 AS cancelled, sum(unknown)::float8 AS unknown,
       coalesce(sum(prompt_tokens), 0)::float8 AS "promptTokens",
       coalesce(sum(completion_tokens), 0)::float8 AS "completionTokens",
       coalesce(sum(total_tokens), 0)::float8 AS "totalTokens",
       coalesce(sum(duration_ms), 0)::float8 AS "durationMs", sum(tool_calls)::float8 AS "toolCalls",
       coalesce(json_agg(json_build_object('amount', cost_amount::text, 'currency', cost_currency)
                         ORDER BY cost_currency) FILTER (WHERE cost_currency IS NOT NULL), '[]') AS cost,
       sum(attributed)::float8 AS attributed, sum(calls - attributed)::float8 AS unattributed,
       json_build_object('calls', sum(reconciled), 'quota', coalesce(sum(quota), 0),
                         'promptTokens', coalesce(sum(reconciled_prompt), 0),
                         'completionTokens', coalesce(sum(reconciled_completion), 0)) AS reconciled
  FROM by_currency GROUP BY day, agent_key, workflow_name, provider
 ORDER BY day DESC NULLS LAST, agent_key NULLS LAST, workflow_name NULLS LAST, provider NULLS LAST
OFFSET $6 LIMIT $7`;

const KEYS = { day: 'day', agent: 'agentKey', workflow: 'workflowName', provider: 'provider' } as const;

/** Rolls the ledger up (agent-runtime-protocol.md §8): what was used, and how much of it can be attributed. */
export class ReadUsage {
  constructor(private readonly dataSource: DataSource) {}

  async execute({
    groupBy,
    from,
    to,
    agentKey,
    workflowName,
    offset,
    limit,
  }: UsageQuery): Promise<UsageRow[]> {
    const rows = await this.dataSource.query<UsageRow[]>(STATEMENT, [
      from,
      to,
      agentKey ?? null,
      workflowName ?? null,
      groupBy,
      offset,
      limit,
    ]);
    const absent: readonly string[] = USAGE_GROUPS.filter((group) => !groupBy.includes(group)).map(
      (group) => KEYS[group],
    );
    return rows.map((row) => {
      const told = Object.entries(row).filter(([key]) => !absent.includes(key));
      return Object.fromEntries(told) as unknown as UsageRow;
    });
  }
}
