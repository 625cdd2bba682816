import { Column, Entity, Index, PrimaryGeneratedColumn } from 'typeorm';

/** A workflow; its definition lies in its versions. Deleted ones keep their row for the runs they had. */
@Entity('workflows')
@Index('workflows_name', ['name'], { unique: true, where: 'deleted_at IS NULL' })
export class WorkflowEntity {
  /** A decimal string: PostgreSQL's bigint. */
  @PrimaryGeneratedColumn('identity', { type: 'bigint', generatedIdentity: 'ALWAYS' })
  id!: string;

  /** Kebab-case, at most 64 characters, unique among the living. */
  @Column({ type: 'text' })
  name!: string;

  /** A JSON string. */
  @Column({ name: 'display_name', type: 'json' })
  displayName!: string;

  /** A JSON string. */
  @Column({ type: 'json' })
  description!: string;

  @Column({ name: 'current_version', type: 'integer' })
  currentVersion!: number;

  @Column({ name: 'created_at', type: 'timestamptz', precision: 3 })
  createdAt!: Date;

  @Column({ name: 'updated_at', type: 'timestamptz', precision: 3 })
  updatedAt!: Date;

  @Column({ name: 'deleted_at', type: 'timestamptz', precision: 3, nullable: true })
  deletedAt!: Date | null;
}
