import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import type { JsonObject } from '../common/json/json-value.js';
import type { FailStrategy } from '../workflows/graph/graph-data.js';
import type { RunStatus, RunStatusReason } from './run-status.js';

/** `errorDetail` beside a run's or node's `error` (contract.md). */
export interface ErrorDetail {
  code: string;
  nodeId: string | null;
  visitUuid: string | null;
  [key: string]: unknown;
}

/**
 * One run of a workflow version. Text that came from outside sits in `json` columns, which keep U+0000, lone
 * surrogates and key order (decision 44).
 */
@Entity('runs')
@Index('runs_by_workflow', ['workflowId', 'createdAt', 'runId'])
@Index('runs_claimable', ['leaseUntil'], { where: "status = 'RUNNING'" })
@Index('runs_by_parent', ['parentRunId'], { where: 'parent_run_id IS NOT NULL' })
@Index('runs_with_callback', ['completedAt'], { where: 'callback_url IS NOT NULL' })
@Index('runs_workspace_expiry', { synchronize: false })
export class RunEntity {
  @PrimaryColumn({ name: 'run_id', type: 'text' })
  runId!: string;

  @Column({ name: 'workflow_id', type: 'bigint' })
  workflowId!: string;

  @Column({ name: 'workflow_version', type: 'integer' })
  workflowVersion!: number;

  @Column({ type: 'text' })
  status!: RunStatus;

  @Column({ name: 'status_reason', type: 'text', nullable: true })
  statusReason!: RunStatusReason | null;

  /** A JSON string. */
  @Column({ type: 'json', nullable: true })
  error!: string | null;

  @Column({ name: 'error_detail', type: 'json', nullable: true })
  errorDetail!: ErrorDetail | null;

  @Column({ type: 'json' })
  variables!: JsonObject;

  /** The output node's fields; the public outputs add `_workingDirFiles` and `_runId`. */
  @Column({ type: 'json', nullable: true })
  outputs!: JsonObject | null;

  /** The request's default for nodes that set none (decision 11). */
  @Column({ name: 'fail_strategy', type: 'text', nullable: true })
  failStrategy!: FailStrategy | null;

  @Column({ name: 'ttl_hours', type: 'integer' })
  ttlHours!: number;

  /** Name of the API key that created it; limits are counted by it. */
  @Column({ name: 'api_key_name', type: 'text', nullable: true })
  apiKeyName!: string | null;

  @Column({ name: 'callback_url', type: 'json', nullable: true })
  callbackUrl!: string | null;

  @Column({ name: 'parent_run_id', type: 'text', nullable: true })
  parentRunId!: string | null;

  @Column({ name: 'parent_visit_uuid', type: 'uuid', nullable: true })
  parentVisitUuid!: string | null;

  @Column({ name: 'rerun_of', type: 'text', nullable: true })
  rerunOf!: string | null;

  @Column({ name: 'rerun_from_node', type: 'text', nullable: true })
  rerunFromNode!: string | null;

  @Column({ name: 'created_at', type: 'timestamptz', precision: 3 })
  createdAt!: Date;

  @Column({ name: 'started_at', type: 'timestamptz', precision: 3, nullable: true })
  startedAt!: Date | null;

  @Column({ name: 'completed_at', type: 'timestamptz', precision: 3, nullable: true })
  completedAt!: Date | null;

  /** Set when somebody asked to cancel; the owner sees it at the latest when it renews its lease. */
  @Column({ name: 'cancel_requested_at', type: 'timestamptz', precision: 3, nullable: true })
  cancelRequestedAt!: Date | null;

  /** Lease (decision 33): who executes the run, under which epoch, until when. */
  @Column({ name: 'lease_owner', type: 'text', nullable: true })
  leaseOwner!: string | null;

  @Column({ name: 'lease_epoch', type: 'integer', default: 0 })
  leaseEpoch!: number;

  /**
   * Until when the owner holds the run. Without an owner: from when anybody may claim it, which is at once after
   * a start or a release, and the wake-up time while everything in it waits.
   */
  @Column({ name: 'lease_until', type: 'timestamptz', precision: 3, nullable: true })
  leaseUntil!: Date | null;

  /** Counts the wake-up calls it got; one that comes while its owner lays it to rest is seen by the difference. */
  @Column({ type: 'integer', default: 0 })
  wakes!: number;

  @Column({ name: 'workspace_expired_at', type: 'timestamptz', precision: 3, nullable: true })
  workspaceExpiredAt!: Date | null;
}
