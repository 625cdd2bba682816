import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** `due` to be sent (again), `delivered`, or `failed` for good. */
export type CallbackState = 'due' | 'delivered' | 'failed';

/** The callback that an ended run owes its creator. */
@Entity('run_callbacks')
@Index('run_callbacks_due', ['nextAttemptAt'], { where: "state = 'due'" })
export class RunCallbackEntity {
  @PrimaryColumn({ name: 'run_id', type: 'text' })
  runId!: string;

  @Column({ type: 'text' })
  state!: CallbackState;

  @Column({ type: 'integer' })
  attempts!: number;

  @Column({ name: 'next_attempt_at', type: 'timestamptz', precision: 3, nullable: true })
  nextAttemptAt!: Date | null;

  /** Why the last attempt failed; a JSON string. */
  @Column({ name: 'last_error', type: 'json', nullable: true })
  lastError!: string | null;

  @Column({ name: 'created_at', type: 'timestamptz', precision: 3 })
  createdAt!: Date;

  @Column({ name: 'ended_at', type: 'timestamptz', precision: 3, nullable: true })
  endedAt!: Date | null;
}
