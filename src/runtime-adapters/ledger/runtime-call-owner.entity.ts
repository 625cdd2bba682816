import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A process that has calls under way, and when it last said so. */
@Entity('runtime_call_owners')
export class RuntimeCallOwnerEntity {
  @PrimaryColumn({ type: 'text' })
  owner!: string;

  @Column({ name: 'seen_at', type: 'timestamptz', precision: 3 })
  seenAt!: Date;
}
