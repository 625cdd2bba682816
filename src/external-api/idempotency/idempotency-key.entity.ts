import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** A creation that carried an `Idempotency-Key` (decision 18), written in the transaction of its run. */
@Entity('idempotency_keys')
@Index('idempotency_keys_age', ['createdAt'])
export class IdempotencyKeyEntity {
  @PrimaryColumn({ name: 'api_key_name', type: 'text' })
  apiKeyName!: string;

  @PrimaryColumn({ name: 'workflow_id', type: 'bigint' })
  workflowId!: string;

  @PrimaryColumn({ type: 'text' })
  key!: string;

  /** SHA-256 of the request's content, in hex. */
  @Column({ name: 'request_hash', type: 'text' })
  requestHash!: string;

  @Column({ name: 'run_id', type: 'text' })
  runId!: string;

  /** The workflow's names as the first answer gave them; a JSON object. */
  @Column({ type: 'json' })
  names!: { workflowName: string; displayName: string };

  @Column({ name: 'created_at', type: 'timestamptz', precision: 3 })
  createdAt!: Date;
}
