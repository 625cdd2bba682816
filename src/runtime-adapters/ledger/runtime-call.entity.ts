import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import type { PermissionEnvelope } from '../permission/permission-envelope.js';
import type { Trimmed } from '../permission/permission-gate.js';
import type { SourceSnapshot } from '../permission/source-snapshot.js';
import type { AgentRuntimeRequest } from '../protocol/agent-runtime-request.js';
import type { AgentRuntimeResponse, RuntimeFailure } from '../protocol/agent-runtime-response.js';
import type { ProviderRef, RuntimeProvider } from '../protocol/provider-ref.js';
import type { Attribution, CallStatus } from './call-status.js';

/**
 * One call of an agent runtime (agent-runtime-protocol.md §9): what was sent, by digests, and how it ended. Written
 * by CallLedger only. Text from outside sits in `json` columns (decision 44). No foreign key, as in `visits`.
 */
@Entity('runtime_calls')
@Index('runtime_calls_by_time', ['requestedAt', 'commandId'])
@Index('runtime_calls_by_run', ['runId'], { where: 'run_id IS NOT NULL' })
@Index('runtime_calls_by_agent', ['agentKey', 'requestedAt'], { where: 'agent_key IS NOT NULL' })
@Index('runtime_calls_open', ['owner'], { where: "status IN ('REQUESTED', 'STARTED')" })
@Index('runtime_calls_to_reconcile', ['reconcileAfter'], { where: 'reconcile_after IS NOT NULL' })
export class RuntimeCallEntity {
  @PrimaryColumn({ name: 'command_id', type: 'text' })
  commandId!: string;

  /** SHA-256 of what was asked: tells a repeat from another request under the same command. */
  @Column({ name: 'request_digest', type: 'text' })
  requestDigest!: string;

  @Column({ type: 'text' })
  status!: CallStatus;

  @Column({ type: 'text' })
  provider!: RuntimeProvider;

  @Column({ name: 'provider_ref', type: 'json' })
  providerRef!: ProviderRef;

  @Column({ name: 'provider_request_id', type: 'json', nullable: true })
  providerRequestId!: string | null;

  /** What the adapter noted to find the call again. */
  @Column({ type: 'json', nullable: true })
  recovery!: Record<string, string> | null;

  @Column({ name: 'run_id', type: 'text', nullable: true })
  runId!: string | null;

  @Column({ name: 'workflow_id', type: 'bigint', nullable: true })
  workflowId!: string | null;

  @Column({ name: 'visit_uuid', type: 'uuid', nullable: true })
  visitUuid!: string | null;

  @Column({ name: 'node_id', type: 'text', nullable: true })
  nodeId!: string | null;

  @Column({ name: 'correlation_id', type: 'json' })
  correlationId!: string;

  @Column({ name: 'agent_key', type: 'text', nullable: true })
  agentKey!: string | null;

  @Column({ name: 'agent_version', type: 'integer', nullable: true })
  agentVersion!: number | null;

  @Column({ name: 'slot_key', type: 'text', nullable: true })
  slotKey!: string | null;

  @Column({ type: 'json' })
  actor!: AgentRuntimeRequest['actor'];

  @Column({ type: 'json' })
  scenario!: string;

  @Column({ name: 'envelope_id', type: 'uuid', nullable: true })
  envelopeId!: string | null;

  @Column({ type: 'json', nullable: true })
  envelope!: PermissionEnvelope | null;

  @Column({ type: 'json' })
  trimmed!: Trimmed[];

  @Column({ name: 'snapshot_id', type: 'uuid', nullable: true })
  snapshotId!: string | null;

  @Column({ type: 'json', nullable: true })
  snapshot!: SourceSnapshot | null;

  /** The process that executes it. */
  @Column({ type: 'text' })
  owner!: string;

  @Column({ name: 'requested_at', type: 'timestamptz', precision: 3 })
  requestedAt!: Date;

  @Column({ name: 'started_at', type: 'timestamptz', precision: 3, nullable: true })
  startedAt!: Date | null;

  @Column({ name: 'completed_at', type: 'timestamptz', precision: 3, nullable: true })
  completedAt!: Date | null;

  /** After this no answer is taken any more. */
  @Column({ name: 'deadline_at', type: 'timestamptz', precision: 3 })
  deadlineAt!: Date;

  @Column({ name: 'output_summary', type: 'json', nullable: true })
  outputSummary!: string | null;

  @Column({ name: 'finish_reason', type: 'text', nullable: true })
  finishReason!: AgentRuntimeResponse['finishReason'];

  @Column({ type: 'text', nullable: true })
  traceability!: AgentRuntimeResponse['traceability'] | null;

  @Column({ type: 'json', nullable: true })
  failure!: RuntimeFailure | null;

  @Column({ name: 'prompt_tokens', type: 'bigint', nullable: true })
  promptTokens!: string | null;

  @Column({ name: 'completion_tokens', type: 'bigint', nullable: true })
  completionTokens!: string | null;

  @Column({ name: 'total_tokens', type: 'bigint', nullable: true })
  totalTokens!: string | null;

  @Column({ name: 'duration_ms', type: 'bigint', nullable: true })
  durationMs!: string | null;

  @Column({ name: 'tool_calls', type: 'integer', default: 0 })
  toolCalls!: number;

  @Column({ name: 'cost_amount', type: 'numeric', nullable: true })
  costAmount!: string | null;

  @Column({ name: 'cost_currency', type: 'text', nullable: true })
  costCurrency!: string | null;

  @Column({ type: 'text', nullable: true })
  attribution!: Attribution | null;

  /** When New-API's log is to be asked next; null: not, or no more. */
  @Column({ name: 'reconcile_after', type: 'timestamptz', precision: 3, nullable: true })
  reconcileAfter!: Date | null;

  @Column({ name: 'reconcile_attempts', type: 'integer', default: 0 })
  reconcileAttempts!: number;

  /** What New-API's log says of the call. */
  @Column({ type: 'json', nullable: true })
  reconciled!: ReconciledUsage | null;
}

/** An entry of New-API's log; `quota` in New-API's own unit. */
export interface ReconciledUsage {
  quota: number;
  promptTokens: number;
  completionTokens: number;
  /** Seconds. */
  useTime: number;
  /** ISO-8601 UTC. */
  at: string;
}
