import { Column, Entity, PrimaryColumn } from 'typeorm';

/**
 * The chain's newest entry, in a table of its own: its lock puts appends in order, and it tells when the end of
 * `audit_logs` was cut (decision 48). One row.
 */
@Entity('audit_head')
export class AuditHeadEntity {
  @PrimaryColumn({ type: 'boolean', default: true })
  id!: boolean;

  @Column({ name: 'chain_id', type: 'uuid' })
  chainId!: string;

  /** A decimal string: PostgreSQL's bigint. 0 before the first entry. */
  @Column({ type: 'bigint' })
  seq!: string;

  @Column({ type: 'text' })
  hash!: string;
}
