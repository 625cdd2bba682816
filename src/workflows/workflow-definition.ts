import type { GraphData, WorkflowMode, WorkflowSettings } from './graph/graph-data.js';

/** One version of a workflow with what its row says. Shared by all who ask for it: never change it. */
export interface WorkflowDefinition {
  readonly workflowId: number;
  /** Kebab-case, unique among the living. */
  readonly name: string;
  readonly displayName: string;
  readonly description: string;
  readonly version: number;
  readonly mode: WorkflowMode;
  readonly graphData: GraphData;
  readonly settings: WorkflowSettings;
  /** When the workflow was made. */
  readonly createdAt: Date;
  /** When it was last changed. */
  readonly updatedAt: Date;
}
