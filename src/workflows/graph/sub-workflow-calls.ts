import type { GraphData } from './graph-data.js';

/** A `subWorkflow` node of a graph or of an iteration within it; `nodeId` as problems name it. */
export interface SubWorkflowCall {
  readonly nodeId: string;
  readonly workflowName: string;
  /** undefined: the current one. */
  readonly version: number | undefined;
}

/** Every call of another workflow in a valid graph. */
export function subWorkflowCalls(graphData: GraphData): SubWorkflowCall[] {
  const calls: SubWorkflowCall[] = [];
  const pending = [{ graph: graphData, prefix: '' }];
  for (let next = pending.pop(); next; next = pending.pop()) {
    for (const { id, type, data } of next.graph.nodes) {
      const nodeId = next.prefix + id;
      if (type === 'iteration') {
        pending.push({ graph: data.graph as unknown as GraphData, prefix: `${nodeId}.` });
      } else if (type === 'subWorkflow') {
        const { workflowName, version } = data as unknown as { workflowName: string; version?: number };
        calls.push({ nodeId, workflowName, version });
      }
    }
  }
  return calls;
}
