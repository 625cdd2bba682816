import type { GraphEdge } from '../graph-data.js';
import type { WorkflowGraph } from '../workflow-graph.js';

/** Edges of one shortest cycle in each part of the graph that has any, in order of the definition. No recursion. */
export function findCycles(graph: WorkflowGraph): GraphEdge[][] {
  return graph.cyclicParts.map(([first]) => (first === undefined ? [] : shortestCycle(graph, first)));
}

function shortestCycle(graph: WorkflowGraph, start: string): GraphEdge[] {
  const cameBy = new Map<string, GraphEdge>();
  const queue = new Set([start]);
  // A set that grows while it is gone through is gone through to its end: breadth first.
  for (const id of queue) {
    for (const edge of graph.outgoing(id)) {
      if (!cameBy.has(edge.target)) cameBy.set(edge.target, edge);
      if (edge.target === start) return pathBack(cameBy, start);
      queue.add(edge.target);
    }
  }
  return [];
}

function pathBack(cameBy: ReadonlyMap<string, GraphEdge>, start: string): GraphEdge[] {
  const path: GraphEdge[] = [];
  let edge = cameBy.get(start);
  while (edge) {
    path.push(edge);
    edge = edge.source === start ? undefined : cameBy.get(edge.source);
  }
  return path.reverse();
}
