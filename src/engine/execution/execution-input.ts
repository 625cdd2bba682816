import type { RunJournal } from '../../runs/journal/run-journal.js';
import type { RunLease } from '../../runs/leases/run-leases.js';
import type { RunEntity } from '../../runs/run.entity.js';
import type { VisitEntity } from '../../runs/visit.entity.js';
import type { WorkflowGraph } from '../../workflows/graph/workflow-graph.js';
import type { WorkflowDefinition } from '../../workflows/workflow-definition.js';
import type { Walk } from '../walks/walk.js';

/** What is needed to execute one run; `stored` are its visits so far. */
export interface ExecutionInput {
  run: RunEntity;
  workflow: WorkflowDefinition;
  walk: Walk;
  graph: WorkflowGraph;
  lease: RunLease;
  journal: RunJournal;
  stored: readonly VisitEntity[];
}
