import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import type { JsonObject } from '../common/json/json-value.js';
import type { NodeType } from '../workflows/graph/graph-data.js';
import type { Envelope } from './envelope.js';
import type { NodeStatus } from './run-status.js';

/**
 * One visit of a node in a run, or the record that the node was skipped. Two indexes only, and no foreign key:
 * this is the engine's hottest table, and its lease guards every write.
 */
@Entity('visits')
@Index('visits_by_uuid', ['visitUuid'], { unique: true })
export class VisitEntity {
  @PrimaryColumn({ name: 'run_id', type: 'text' })
  runId!: string;

  /** Order of beginning within the run, from 1. */
  @PrimaryColumn({ name: 'sort_order', type: 'integer' })
  sortOrder!: number;

  @Column({ name: 'visit_uuid', type: 'uuid' })
  visitUuid!: string;

  @Column({ name: 'node_id', type: 'text' })
  nodeId!: string;

  @Column({ name: 'node_type', type: 'text' })
  nodeType!: NodeType | 'planner';

  /** 1 for the node's first visit in the run. */
  @Column({ name: 'iter_seq', type: 'integer' })
  iterSeq!: number;

  @Column({ type: 'integer' })
  attempt!: number;

  @Column({ type: 'text' })
  status!: Exclude<NodeStatus, 'PENDING'>;

  /** UUIDs of the visits it came from. */
  @Column({ type: 'uuid', array: true })
  predecessors!: string[];

  /** Null until the visit ends. */
  @Column({ type: 'json', nullable: true })
  envelope!: Envelope | null;

  /** The outcome a condition chose (a case id or `else`); its other edges are dead. */
  @Column({ name: 'chosen_handle', type: 'text', nullable: true })
  chosenHandle!: string | null;

  @Column({ name: 'error_code', type: 'text', nullable: true })
  errorCode!: string | null;

  @Column({ name: 'skipped_because', type: 'text', array: true, nullable: true })
  skippedBecause!: string[] | null;

  /** What a `WAITING` visit waits for. */
  @Column({ type: 'json', nullable: true })
  waiting!: JsonObject | null;

  /** Model tokens it used, all attempts together (budgets). */
  @Column({ type: 'integer', default: 0 })
  tokens!: number;

  @Column({ name: 'tool_calls', type: 'integer', default: 0 })
  toolCalls!: number;

  @Column({ name: 'started_at', type: 'timestamptz', precision: 3 })
  startedAt!: Date;

  @Column({ name: 'completed_at', type: 'timestamptz', precision: 3, nullable: true })
  completedAt!: Date | null;
}
