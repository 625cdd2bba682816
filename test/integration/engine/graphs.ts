import type { GraphData, GraphEdge, GraphNode, InputField, NodeType } from '../../../src/workflows/index.js';

export function node(id: string, type: NodeType, data: Record<string, unknown> = {}): GraphNode {
  return { id, type, data: { label: id, ...data } };
}
export const input = (...fields: InputField[]): GraphNode => node('in', 'userInput', { fields });
export const agent = (id: string, data: Record<string, unknown> = {}): GraphNode =>
  node(id, 'agent', { model: 'demo', prompt: 'go', ...data });
export const output = (fields: Record<string, unknown>, id = 'out'): GraphNode =>
  node(id, 'output', { fields: Object.entries(fields).map(([name, value]) => ({ name, value })) });
export const edge = (source: string, target: string, sourceHandle: string | null = null): GraphEdge => ({
  id: `${source}-${sourceHandle ?? 'to'}-${target}`,
  source,
  target,
  sourceHandle,
});
/** Nodes in a row. */
export function chain(...nodes: GraphNode[]): GraphData {
  const edges = nodes.slice(1).map((next, at) => edge(nodes[at]?.id ?? '', next.id));
  return { nodes, edges };
}
export function when(
  id: string,
  cases: { id: string; variable: string; operator: string; value: unknown }[],
): GraphNode {
  return node(id, 'condition', {
    cases: cases.map(({ id: caseId, ...condition }) => ({
      id: caseId,
      logic: 'and',
      conditions: [condition],
    })),
  });
}
/** `n` above 5: the agent `yes` acts, else the agent `no`. */
export function yesOrNo(): GraphData {
  return {
    nodes: [
      input({ name: 'n', type: 'number' }),
      when('c', [{ id: 'big', variable: 'in.n', operator: 'greaterThan', value: 5 }]),
      agent('yes'),
      agent('no'),
      output({ x: '{{ yes.text }}{{ no.text }}' }),
    ],
    edges: [
      edge('in', 'c'),
      edge('c', 'yes', 'big'),
      edge('c', 'no', 'else'),
      edge('yes', 'out'),
      edge('no', 'out'),
    ],
  };
}
