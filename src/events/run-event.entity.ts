import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import type { LogType, StreamEventType } from './run-event.js';

/**
 * A recorded event. `payload` is the public JSON as it goes to every reader; log entries are those events that
 * have a `logType`, so nothing is stored twice. No foreign key: the engine's lease guards every insert.
 */
@Entity('run_events')
@Index('run_events_log', ['runId', 'nodeId', 'seq'], { where: 'log_type IS NOT NULL' })
export class RunEventEntity {
  @PrimaryColumn({ name: 'run_id', type: 'text' })
  runId!: string;

  @PrimaryColumn({ type: 'integer' })
  seq!: number;

  @Column({ type: 'text' })
  type!: StreamEventType;

  @Column({ name: 'node_id', type: 'text', nullable: true })
  nodeId!: string | null;

  @Column({ name: 'visit_uuid', type: 'uuid', nullable: true })
  visitUuid!: string | null;

  @Column({ name: 'iter_seq', type: 'integer', nullable: true })
  iterSeq!: number | null;

  @Column({ name: 'log_type', type: 'text', nullable: true })
  logType!: LogType | null;

  @Column({ type: 'timestamptz', precision: 3 })
  at!: Date;

  @Column({ type: 'text' })
  payload!: string;
}
