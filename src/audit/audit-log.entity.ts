import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import type { JsonValue } from '../common/json/json-value.js';
import type { AuditActor } from './audit-entry.js';

/** An entry of the audit chain. Written by AuditLog only; triggers refuse UPDATE, DELETE and TRUNCATE. */
@Entity('audit_logs')
@Index('audit_logs_by_subject', ['subjectType', 'subjectId', 'seq'])
export class AuditLogEntity {
  /** A decimal string: PostgreSQL's bigint. */
  @PrimaryColumn({ type: 'bigint' })
  seq!: string;

  @Column({ type: 'timestamptz', precision: 3 })
  at!: Date;

  @Column({ type: 'json' })
  actor!: AuditActor;

  @Column({ type: 'text' })
  action!: string;

  @Column({ name: 'subject_type', type: 'text' })
  subjectType!: string;

  @Column({ name: 'subject_id', type: 'text' })
  subjectId!: string;

  @Column({ name: 'correlation_id', type: 'json', nullable: true })
  correlationId!: string | null;

  /** A JSON string. */
  @Column({ type: 'json', nullable: true })
  reason!: string | null;

  @Column({ type: 'json', nullable: true })
  before!: JsonValue;

  @Column({ type: 'json', nullable: true })
  after!: JsonValue;

  @Column({ name: 'prev_hash', type: 'text' })
  prevHash!: string;

  @Column({ type: 'text' })
  hash!: string;
}
