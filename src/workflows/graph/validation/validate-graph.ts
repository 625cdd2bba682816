import type { GraphData, GraphProblem, WorkflowMode } from '../graph-data.js';
import { WorkflowGraph } from '../workflow-graph.js';
import { checkEdges } from './check-edges.js';
import { checkNodes } from './check-nodes.js';
import { checkReferences, type ReadingRules } from './check-references.js';
import { checkSettings, plannerNamesAnyNode } from './check-settings.js';
import { checkStructure, type StructureRules } from './check-structure.js';
import { jsonProblem } from './json-depth.js';
import { ProblemList } from './problem-list.js';
import { readGraph } from './read-graph.js';

/** Iterations within iterations. */
const MAX_INNER_GRAPHS = 5;

/** A definition as it came: anything may be wrong with it. */
export interface UncheckedDefinition {
  readonly mode: unknown;
  readonly graphData: unknown;
  readonly settings?: unknown;
}

interface GraphRules {
  readonly mode: WorkflowMode;
  readonly structure: StructureRules;
  readonly reading: ReadingRules;
  readonly depth: number;
}

const NOTHING: ReadonlySet<string> = new Set();

/**
 * Every problem of a definition (contract.md, "Graph definition"), at most 500 of a code; none means that it can be saved
 * and run. Never throws, whatever it is given.
 */
export function validateGraph({ mode, graphData, settings }: UncheckedDefinition): GraphProblem[] {
  const problems = new ProblemList();
  if (mode !== 'DAG' && mode !== 'AGENTIC') problems.add('INVALID_MODE', 'the mode must be DAG or AGENTIC');
  const known: WorkflowMode = mode === 'AGENTIC' ? 'AGENTIC' : 'DAG';
  const settingsProblem = jsonProblem(settings ?? null);
  if (settingsProblem) problems.add('INVALID_SETTINGS', `settings ${settingsProblem}`, { field: 'settings' });
  else checkSettings(settings, known, problems);
  const graphProblem = jsonProblem(graphData ?? null);
  if (graphProblem) {
    problems.add('GRAPH_MALFORMED', `the graph ${graphProblem}`);
    return [...problems.all];
  }
  const isDag = known === 'DAG';
  const structure = { isInner: false, isAcyclic: isDag, needsEdges: isDag || !plannerNamesAnyNode(settings) };
  const reading = { ancestorsOnly: isDag, outside: NOTHING, outsideUnready: NOTHING };
  checkGraph(graphData, { mode: known, structure, reading, depth: 0 }, problems);
  return [...problems.all];
}

function checkGraph(graphData: unknown, rules: GraphRules, problems: ProblemList): void {
  const raw = readGraph(graphData, problems);
  const nodes = checkNodes(raw.nodes, rules.mode, problems);
  checkEdges(raw.edges, new Map(nodes.map((node) => [node.id, node])), problems);
  // Looked at for its ids and edges only: what its nodes are is not certain.
  const graph = WorkflowGraph.of({ nodes, edges: [...raw.edges] } as unknown as GraphData);
  checkStructure(graph, nodes, rules.structure, problems);
  for (const node of nodes) {
    checkReferences(node, graph, rules.reading, problems);
    const inner = node.reading?.subGraph;
    if (!inner) continue;
    if (rules.depth >= MAX_INNER_GRAPHS) {
      const message = `iterations are nested deeper than ${MAX_INNER_GRAPHS}`;
      problems.add('TOO_LARGE', message, { nodeId: node.id, field: inner.field });
    } else {
      checkGraph(inner.graph, innerRules(node.id, graph, rules), problems.within(node.id));
    }
  }
}

/** An iteration's graph is a DAG that also reads its item, and what the iteration itself may read. */
function innerRules(iteration: string, graph: WorkflowGraph, { reading, depth }: GraphRules): GraphRules {
  const before = reading.ancestorsOnly ? graph.ancestors(iteration) : null;
  const isBefore = (name: string) => (before ? before.has(name) : graph.node(name) !== undefined);
  return {
    mode: 'DAG',
    structure: { isInner: true, isAcyclic: true, needsEdges: true },
    reading: {
      ancestorsOnly: true,
      outside: {
        has: (name) => name === 'item' || name === 'index' || isBefore(name) || reading.outside.has(name),
      },
      outsideUnready: {
        has: (name) => graph.node(name) !== undefined || reading.outsideUnready.has(name),
      },
    },
    depth: depth + 1,
  };
}
