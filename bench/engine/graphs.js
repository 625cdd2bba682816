import { CHAIN_NODES, FAN_WIDTH } from './workloads.js';

const node = (id, type, data = {}) => ({ id, type, data: { label: id, ...data } });
const edge = (source, target, sourceHandle = null) => ({
  id: `${source}-${sourceHandle ?? 'to'}-${target}`,
  source,
  target,
  sourceHandle,
});
const step = (id) => node(id, 'template', { template: 'ok' });

/** A chain of no-op nodes, its input and output among them. */
export function chainGraph() {
  const steps = Array.from({ length: CHAIN_NODES - 2 }, (_, at) => step(`n${at}`));
  const nodes = [
    node('in', 'userInput', { fields: [] }),
    ...steps,
    node('out', 'output', { fields: [{ name: 'ok', value: true }] }),
  ];
  return { nodes, edges: nodes.slice(1).map(({ id }, at) => edge(nodes[at].id, id)) };
}

/** One node, then many side by side, then one. */
export function fanGraph() {
  const steps = Array.from({ length: FAN_WIDTH }, (_, at) => step(`p${at}`));
  return {
    nodes: [
      node('in', 'userInput', { fields: [] }),
      ...steps,
      node('out', 'output', { fields: [{ name: 'ok', value: true }] }),
    ],
    edges: steps.flatMap(({ id }) => [edge('in', id), edge(id, 'out')]),
  };
}

/** A loop of a counting node and a condition, `visits` visits long with its input and output. */
export function loopGraph(visits) {
  const rounds = (visits - 2) / 2;
  return {
    nodes: [
      node('in', 'userInput', { fields: [] }),
      node('count', 'template', { template: '{{ count.text | default: 0 | plus: 1 }}' }),
      node('again', 'condition', {
        cases: [
          {
            id: 'enough',
            logic: 'and',
            conditions: [{ variable: 'count.text', operator: 'equals', value: String(rounds) }],
          },
        ],
      }),
      node('out', 'output', { fields: [{ name: 'rounds', value: '{{ count.text }}' }] }),
    ],
    edges: [
      edge('in', 'count'),
      edge('count', 'again'),
      edge('again', 'count', 'else'),
      edge('again', 'out', 'enough'),
    ],
  };
}
