import type { GraphEdge } from '../../workflows/graph/graph-data.js';
import type { WorkflowGraph } from '../../workflows/graph/workflow-graph.js';

/**
 * Edges that lead back to a node from which their source is being reached (depth first, from the roots, in the
 * graph's order). Without them the graph has no cycle. No recursion, for deep graphs.
 */
export function backEdges(graph: WorkflowGraph): ReadonlySet<GraphEdge> {
  const back = new Set<GraphEdge>();
  const state = new Map<string, 'open' | 'done'>();
  const inputs = graph.nodes.filter(({ type }) => type === 'userInput');
  for (const { id } of [...inputs, ...graph.nodes]) {
    if (state.has(id)) continue;
    const stack = [{ id, edges: graph.outgoing(id), at: 0 }];
    state.set(id, 'open');
    for (let top = stack.at(-1); top; top = stack.at(-1)) {
      const edge = top.edges[top.at++];
      if (!edge) {
        state.set(top.id, 'done');
        stack.pop();
        continue;
      }
      const target = state.get(edge.target);
      if (target === 'open') back.add(edge);
      else if (!target) {
        state.set(edge.target, 'open');
        stack.push({ id: edge.target, edges: graph.outgoing(edge.target), at: 0 });
      }
    }
  }
  return back;
}
