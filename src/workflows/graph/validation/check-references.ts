import { TemplateSyntaxError } from '../../templates/template-error.js';
import { parsePath } from '../../templates/resolve-path.js';
import { templateReferences } from '../../templates/template-references.js';
import type { WorkflowGraph } from '../workflow-graph.js';
import type { CheckedNode } from './check-nodes.js';
import { quote, type ProblemList } from './problem-list.js';

/** What the nodes of a graph may read beside each other. */
export interface ReadingRules {
  /** Only ancestors; otherwise any node of the graph. */
  readonly ancestorsOnly: boolean;
  /** Names from outside an iteration: `item`, `index`, and nodes before it. */
  readonly outside: { has(name: string): boolean };
  /** Nodes outside an iteration that exist but do not come before it. */
  readonly outsideUnready: { has(name: string): boolean };
}

const ITERATION_NAMES = ['item', 'index'];

/** Checks that everything a node reads exists and has run before it. */
export function checkReferences(
  node: CheckedNode,
  graph: WorkflowGraph,
  rules: ReadingRules,
  problems: ProblemList,
): void {
  if (!node.reading) return;
  for (const { field, text } of node.reading.templates) {
    for (const name of referencesOf(text, node.id, field, problems)) {
      checkName(name, field, node.id, graph, rules, problems);
    }
  }
  for (const { field, path } of node.reading.references) {
    const parsed = parsePath(path);
    if (parsed) checkName(parsed.root, field, node.id, graph, rules, problems);
    else {
      const message = `node ${quote(node.id)}, ${field}: ${quote(path)} is no reference such as "node.key"`;
      problems.add('INVALID_NODE_DATA', message, { nodeId: node.id, field });
    }
  }
}

function referencesOf(text: string, nodeId: string, field: string, problems: ProblemList): string[] {
  try {
    return templateReferences(text);
  } catch (error) {
    if (!(error instanceof TemplateSyntaxError)) throw error;
    problems.add('TEMPLATE_SYNTAX', `node ${quote(nodeId)}, ${field}: ${error.message}`, { nodeId, field });
    return [];
  }
}

function checkName(
  name: string,
  field: string,
  nodeId: string,
  graph: WorkflowGraph,
  { ancestorsOnly, outside, outsideUnready }: ReadingRules,
  problems: ProblemList,
): void {
  const where = { nodeId, field };
  const place = `node ${quote(nodeId)}, ${field}`;
  const isHere = graph.node(name) !== undefined;
  if (isHere ? !ancestorsOnly || graph.isAncestor(name, nodeId) : outside.has(name)) return;
  if (isHere || outsideUnready.has(name)) {
    problems.add('NOT_AN_ANCESTOR', `${place}: node ${quote(name)} does not come before it`, where);
    return;
  }
  const hint = ITERATION_NAMES.includes(name) ? 'exists within an iteration only' : 'is no node of the graph';
  problems.add('UNKNOWN_REFERENCE', `${place}: ${quote(name)} ${hint}`, where);
}
