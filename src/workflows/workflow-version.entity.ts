import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { GraphData, WorkflowMode, WorkflowSettings } from './graph/graph-data.js';

/** An immutable version of a workflow's definition; a run pins the one it was created with. */
@Entity('workflow_versions')
export class WorkflowVersionEntity {
  @PrimaryColumn({ name: 'workflow_id', type: 'bigint' })
  workflowId!: string;

  @PrimaryColumn({ type: 'integer' })
  version!: number;

  @Column({ type: 'text' })
  mode!: WorkflowMode;

  @Column({ name: 'graph_data', type: 'json' })
  graphData!: GraphData;

  @Column({ type: 'json' })
  settings!: WorkflowSettings;

  @Column({ name: 'created_at', type: 'timestamptz', precision: 3 })
  createdAt!: Date;
}
