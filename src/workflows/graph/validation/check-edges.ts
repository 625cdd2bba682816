import type { GraphEdge } from '../graph-data.js';
import type { CheckedNode } from './check-nodes.js';
import { quote, type ProblemList } from './problem-list.js';

/** Checks that edges lead from node to node, once each, and leave by a handle that their source has. */
export function checkEdges(
  edges: readonly GraphEdge[],
  nodes: ReadonlyMap<string, CheckedNode>,
  problems: ProblemList,
): void {
  const ids = new Set<string>();
  const arcs = new Set<string>();
  for (const edge of edges) {
    const { id, source, target, sourceHandle } = edge;
    if (ids.has(id)) {
      problems.add('DUPLICATE_EDGE_ID', `more than one edge has the id ${quote(id)}`, { edgeId: id });
    }
    ids.add(id);
    const arc = JSON.stringify([source, target, sourceHandle]);
    if (arcs.has(arc)) {
      const message = `edge ${quote(id)} repeats another edge from ${quote(source)} to ${quote(target)}`;
      problems.add('DUPLICATE_EDGE', message, { edgeId: id });
    }
    arcs.add(arc);
    for (const [end, nodeId] of [
      ['begins at', source],
      ['leads to', target],
    ] as const) {
      if (!nodes.has(nodeId)) {
        problems.add('DANGLING_EDGE', `edge ${quote(id)} ${end} ${quote(nodeId)}, which is no node`, {
          edgeId: id,
        });
      }
    }
    checkHandle(edge, nodes.get(source), problems);
  }
}

function checkHandle(
  { id, source, sourceHandle }: GraphEdge,
  node: CheckedNode | undefined,
  problems: ProblemList,
) {
  if (sourceHandle === null || !node?.reading) return;
  const { handles } = node.reading;
  if (handles?.includes(sourceHandle)) return;
  const where = { nodeId: source, edgeId: id };
  if (handles) {
    const known = handles.map(quote).join(', ');
    const message = `edge ${quote(id)}: node ${quote(source)} has no case ${quote(sourceHandle)}, but ${known}`;
    problems.add('UNKNOWN_HANDLE', message, where);
  } else if (node.type !== 'condition') {
    const message = `edge ${quote(id)}: node ${quote(source)} has no cases, so no sourceHandle ${quote(sourceHandle)}`;
    problems.add('UNKNOWN_HANDLE', message, where);
  }
}
