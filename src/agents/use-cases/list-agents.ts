import type { DataSource } from 'typeorm';
import type { CallStatus } from '../../runtime-adapters/ledger/call-status.js';
import type { ProviderRef, RuntimeProvider } from '../../runtime-adapters/protocol/provider-ref.js';
import { REFERENCE_KEYS, type AgentConfig } from '../config/agent-config.js';
import { credentialOf, providerRefOf } from '../config/provider-ref-of.js';

/** An agent as lists show it (agent-runtime-protocol.md §10, stage C). */
export interface AgentSummary {
  agentKey: string;
  displayName: string;
  description: string;
  currentVersion: number | null;
  latestVersion: number | null;
  /** Of the current version, or of the newest draft before the first publish. */
  provider: RuntimeProvider | null;
  /** The provider's reference without its credential. */
  reference: Record<string, unknown> | null;
  credentialRef: string | null;
  /** The newest call of any version. */
  lastRun: { commandId: string; status: CallStatus; requestedAt: string; completedAt: string | null } | null;
  createdAt: string;
  updatedAt: string;
  archivedAt: string | null;
}

interface AgentRow {
  agentKey: string;
  displayName: string;
  description: string;
  currentVersion: number | null;
  lastVersion: number;
  createdAt: Date;
  updatedAt: Date;
  archivedAt: Date | null;
  config: Partial<AgentConfig> | null;
  lastCommandId: string | null;
  lastStatus: CallStatus | null;
  lastRequestedAt: Date | null;
  lastCompletedAt: Date | null;
}

/** Reads agents with what they refer to and how their last call went. */
export class ListAgents {
  constructor(private readonly dataSource: DataSource) {}

  /** By key; those after `after`. Archived ones only where asked for. */
  async execute(page: { after?: string; limit: number; archived: boolean }): Promise<AgentSummary[]> {
    const rows = await this.dataSource.query<AgentRow[]>(
      `${SELECT} WHERE ($1::text IS NULL OR a.agent_key > $1) AND ($2 OR a.archived_at IS NULL)
        ORDER BY a.agent_key LIMIT $3`,
      [page.after ?? null, page.archived, page.limit],
    );
    return rows.map(summaryOf);
  }

  /** Null where there is no such agent; an archived one is shown. */
  async one(agentKey: string): Promise<AgentSummary | null> {
    if (!/^[a-z0-9-]{1,64}$/.test(agentKey)) return null;
    const [row] = await this.dataSource.query<AgentRow[]>(`${SELECT} WHERE a.agent_key = $1`, [agentKey]);
    return row ? summaryOf(row) : null;
  }
}

const SELECT = `
SELECT a.agent_key AS "agentKey", a.display_name AS "displayName", a.description,
       a.current_version AS "currentVersion", a.last_version AS "lastVersion", a.created_at AS "createdAt",
       a.updated_at AS "updatedAt", a.archived_at AS "archivedAt", v.config,
       c.command_id AS "lastCommandId", c.status AS "lastStatus", c.requested_at AS "lastRequestedAt",
       c.completed_at AS "lastCompletedAt"
  FROM agents a
  LEFT JOIN agent_versions v
    ON v.agent_key = a.agent_key AND v.version = coalesce(a.current_version, a.last_version)
  LEFT JOIN LATERAL (
    SELECT command_id, status, requested_at, completed_at FROM runtime_calls
     WHERE agent_key = a.agent_key ORDER BY requested_at DESC LIMIT 1
  ) c ON true`;

function summaryOf(row: AgentRow): AgentSummary {
  const ref = row.config && providerRefOf(row.config);
  return {
    agentKey: row.agentKey,
    displayName: row.displayName,
    description: row.description,
    currentVersion: row.currentVersion,
    latestVersion: row.lastVersion === 0 ? null : row.lastVersion,
    provider: ref?.runtimeProvider ?? null,
    reference: ref && referenceOf(ref),
    credentialRef: (ref && credentialOf(ref)?.ref) ?? null,
    lastRun: lastRunOf(row),
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
    archivedAt: row.archivedAt?.toISOString() ?? null,
  };
}

function lastRunOf(row: AgentRow): AgentSummary['lastRun'] {
  if (row.lastCommandId === null || row.lastStatus === null || row.lastRequestedAt === null) return null;
  return {
    commandId: row.lastCommandId,
    status: row.lastStatus,
    requestedAt: row.lastRequestedAt.toISOString(),
    completedAt: row.lastCompletedAt?.toISOString() ?? null,
  };
}

function referenceOf(ref: ProviderRef): Record<string, unknown> {
  const { [REFERENCE_KEYS[ref.runtimeProvider]]: reference = {} } = ref as Record<string, object | string>;
  return Object.fromEntries(Object.entries(reference).filter(([key]) => key !== 'credentialRef'));
}
