import type { GraphEdge } from '../graph-data.js';
import { quote, type ProblemList } from './problem-list.js';

export const MAX_NODES = 10_000;
export const MAX_EDGES = 100_000;
const MAX_EDGE_ID = 300;

/** A node whose id is a text; nothing else about it is certain. */
export interface RawNode {
  readonly id: string;
  readonly type: unknown;
  readonly data: unknown;
}

export interface RawGraph {
  readonly nodes: readonly RawNode[];
  readonly edges: readonly GraphEdge[];
}

/** Takes what has the shape of nodes and edges out of anything, and reports the rest. */
export function readGraph(graph: unknown, problems: ProblemList): RawGraph {
  if (!isRecord(graph)) {
    problems.add('GRAPH_MALFORMED', 'the graph must be an object {nodes, edges}');
    return { nodes: [], edges: [] };
  }
  return {
    nodes: list(graph, 'nodes', MAX_NODES, problems).flatMap((node, at) => readNode(node, at, problems)),
    edges: list(graph, 'edges', MAX_EDGES, problems).flatMap((edge, at) => readEdge(edge, at, problems)),
  };
}

function list(graph: Record<string, unknown>, key: string, max: number, problems: ProblemList): unknown[] {
  const value = graph[key];
  if (!Array.isArray(value)) {
    problems.add('GRAPH_MALFORMED', `${key} must be a list`);
    return [];
  }
  if (value.length <= max) return value as unknown[];
  problems.add('TOO_LARGE', `the graph has ${value.length} ${key}, more than ${max}`);
  return [];
}

function readNode(node: unknown, at: number, problems: ProblemList): RawNode[] {
  if (!isRecord(node)) {
    problems.add('NODE_MALFORMED', `nodes.${at} must be an object {id, type, data}`);
    return [];
  }
  const { id, type, data } = node;
  if (typeof id !== 'string' || id === '') {
    problems.add('NODE_MALFORMED', `nodes.${at} has no id`);
    return [];
  }
  return [{ id, type, data }];
}

function readEdge(edge: unknown, at: number, problems: ProblemList): GraphEdge[] {
  if (!isRecord(edge)) {
    problems.add('EDGE_MALFORMED', `edges.${at} must be an object {id, source, target}`);
    return [];
  }
  const { id, source, target, sourceHandle = null } = edge;
  const edgeId = typeof id === 'string' && id !== '' ? id.slice(0, MAX_EDGE_ID) : null;
  const name = edgeId === null ? `edges.${at}` : `edge ${quote(edgeId)}`;
  const faults: string[] = [];
  if (edgeId === null) faults.push(`edges.${at} has no id`);
  else if (edgeId !== id) faults.push(`${name} has an id longer than ${MAX_EDGE_ID} characters`);
  if (typeof source !== 'string') faults.push(`${name} has no source`);
  if (typeof target !== 'string') faults.push(`${name} has no target`);
  if (sourceHandle !== null && typeof sourceHandle !== 'string') {
    faults.push(`${name} has a sourceHandle that is neither a text nor null`);
  }
  for (const fault of faults) problems.add('EDGE_MALFORMED', fault, { edgeId });
  if (faults.length > 0 || typeof source !== 'string' || typeof target !== 'string') return [];
  return [{ id: String(id), source, target, sourceHandle: sourceHandle as string | null }];
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
