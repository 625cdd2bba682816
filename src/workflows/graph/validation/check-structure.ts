import type { GraphEdge } from '../graph-data.js';
import type { WorkflowGraph } from '../workflow-graph.js';
import type { CheckedNode } from './check-nodes.js';
import { findCycles } from './find-cycles.js';
import { quote, type ProblemList } from './problem-list.js';

const MAX_NAMED = 20;

/** Which rules a graph follows as a whole. */
export interface StructureRules {
  /** The inner graph of an iteration: no userInput, begins at the nodes without incoming edges. */
  readonly isInner: boolean;
  /** Back edges are refused. */
  readonly isAcyclic: boolean;
  /** Every node must be reached by edges; not so where a planner may name any. */
  readonly needsEdges: boolean;
}

/** Checks the graph as a whole: where it begins and ends, cycles, nodes that nothing leads to. */
export function checkStructure(
  graph: WorkflowGraph,
  nodes: readonly CheckedNode[],
  rules: StructureRules,
  problems: ProblemList,
): void {
  const inputs = nodes.filter(({ type }) => type === 'userInput');
  if (rules.isInner) {
    for (const { id } of inputs) {
      const message = `node ${quote(id)}: an iteration's graph has no userInput; its nodes read item and index`;
      problems.add('USER_INPUT_NOT_ALLOWED', message, { nodeId: id });
    }
  } else if (inputs.length === 0) {
    problems.add('MISSING_USER_INPUT', 'the graph needs a userInput node');
  }
  for (const { id } of rules.isInner ? [] : inputs.slice(1)) {
    const message = `node ${quote(id)}: the graph may have one userInput node only`;
    problems.add('MULTIPLE_USER_INPUTS', message, { nodeId: id });
  }
  if (!nodes.some(({ type }) => type === 'output')) {
    problems.add('MISSING_OUTPUT', 'the graph needs an output node');
  }
  if (rules.isAcyclic) {
    for (const cycle of findCycles(graph)) reportCycle(cycle, problems);
  }
  // Without an input nothing is reached, and an inner graph is reached from everywhere: both are no news.
  if (!rules.needsEdges || rules.isInner || inputs.length === 0) return;
  const reached = graph.reachableFrom(inputs.map(({ id }) => id));
  for (const { id } of nodes) {
    if (!reached.has(id)) {
      problems.add('UNREACHABLE_NODE', `no path leads from userInput to node ${quote(id)}`, { nodeId: id });
    }
  }
}

function reportCycle(cycle: readonly GraphEdge[], problems: ProblemList): void {
  const names = cycle.map(({ source }) => source);
  const [first] = names;
  const shown = names.length > MAX_NAMED ? [...names.slice(0, MAX_NAMED), '…'] : names;
  const message = `the edges form a cycle: ${[...shown, first].join(' → ')}`;
  problems.add('CYCLE', message, { nodeId: first, edgeId: cycle.at(-1)?.id });
}
