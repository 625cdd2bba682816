import type { RunEntity } from '../../runs/run.entity.js';
import type { WorkflowGraph } from '../../workflows/index.js';

/** Called once a run has ended, for the runs that are related to it; null where its graph cannot be read. */
export type AfterEnd = (run: RunEntity, graph: WorkflowGraph | null) => Promise<void>;
