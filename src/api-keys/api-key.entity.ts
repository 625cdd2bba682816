import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** A key of `/api/v1` made through the admin API. Only its hash is kept; the key was shown once. */
@Entity('api_keys')
@Index('api_keys_hash', ['keyHash'], { unique: true })
@Index('api_keys_name', ['name'], { unique: true, where: 'revoked_at IS NULL' })
export class ApiKeyEntity {
  @PrimaryColumn({ type: 'uuid' })
  id!: string;

  /** Unique among the keys that are not revoked: limits are counted by it. */
  @Column({ type: 'text' })
  name!: string;

  /** SHA-256 of the key, lower-case hex. Stays taken when the key is revoked. */
  @Column({ name: 'key_hash', type: 'text' })
  keyHash!: string;

  @Column({ name: 'workflow_names', type: 'json' })
  workflowNames!: string[];

  @Column({ name: 'workflow_ids', type: 'json' })
  workflowIds!: number[];

  @Column({ name: 'requests_per_minute', type: 'integer', nullable: true })
  requestsPerMinute!: number | null;

  @Column({ name: 'max_concurrent_runs', type: 'integer', nullable: true })
  maxConcurrentRuns!: number | null;

  @Column({ name: 'expires_at', type: 'timestamptz', precision: 3, nullable: true })
  expiresAt!: Date | null;

  /** Name of the admin key that made it. */
  @Column({ name: 'created_by', type: 'text' })
  createdBy!: string;

  @Column({ name: 'created_at', type: 'timestamptz', precision: 3 })
  createdAt!: Date;

  /** To the minute. */
  @Column({ name: 'last_used_at', type: 'timestamptz', precision: 3, nullable: true })
  lastUsedAt!: Date | null;

  @Column({ name: 'revoked_at', type: 'timestamptz', precision: 3, nullable: true })
  revokedAt!: Date | null;
}
