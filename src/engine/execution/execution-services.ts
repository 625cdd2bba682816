import type { JsonObject } from '../../common/json/json-value.js';
import type { NodeType } from '../../workflows/graph/graph-data.js';
import type { Workspaces } from '../../runs/workspaces/workspaces.js';
import type { NodeExecutor } from '../nodes/node-executor.js';
import type { LargeOutputs } from './large-outputs.js';

/** What every execution of this process shares. */
export interface ExecutionServices {
  executorOf(type: NodeType | 'planner'): NodeExecutor | undefined;
  workspaces: Workspaces;
  largeOutputs: LargeOutputs;
  /** See `engine.stream-merge-millis`. */
  streamMergeMillis: number;
  /** Nodes of a run that act at the same time, where its settings say nothing. */
  defaultConcurrency: number;
  /** What the waiting visits of a run wait for, as stored, by visit UUID. */
  readWaiting(runId: string): Promise<ReadonlyMap<string, JsonObject>>;
}
