import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A system agent. Archived ones keep their row, and their key is not given out again. */
@Entity('agents')
export class AgentEntity {
  /** Kebab-case, at most 64 characters. */
  @PrimaryColumn({ name: 'agent_key', type: 'text' })
  agentKey!: string;

  /** A JSON string. */
  @Column({ name: 'display_name', type: 'json' })
  displayName!: string;

  /** A JSON string. */
  @Column({ type: 'json' })
  description!: string;

  /** The version that callers get; null before the first publish. */
  @Column({ name: 'current_version', type: 'integer', nullable: true })
  currentVersion!: number | null;

  /** The newest version's number; 0 before the first. */
  @Column({ name: 'last_version', type: 'integer', default: 0 })
  lastVersion!: number;

  /** Goes up with each publish, switch and archiving: of two at once, one wins. */
  @Column({ type: 'integer', default: 0 })
  revision!: number;

  @Column({ name: 'created_at', type: 'timestamptz', precision: 3 })
  createdAt!: Date;

  @Column({ name: 'updated_at', type: 'timestamptz', precision: 3 })
  updatedAt!: Date;

  @Column({ name: 'archived_at', type: 'timestamptz', precision: 3, nullable: true })
  archivedAt!: Date | null;
}
