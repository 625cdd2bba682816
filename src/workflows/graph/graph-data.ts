import type { JsonObject } from '../../common/json/json-value.js';

/** The two ways a graph is walked (decisions 30 and 31). */
export type WorkflowMode = 'DAG' | 'AGENTIC';

/** The node types of contract.md, "Graph definition". */
export const NODE_TYPES = [
  'userInput',
  'agent',
  'smartAction',
  'condition',
  'template',
  'code',
  'http',
  'knowledge',
  'iteration',
  'subWorkflow',
  'humanInput',
  'delay',
  'output',
] as const;
export type NodeType = (typeof NODE_TYPES)[number];

/** What a failed node does to its run (decision 11). */
export type FailStrategy = 'abort' | 'skip';

/** `retry` of a node; attempts after the first wait `backoffSeconds`, doubled each time, up to `maxBackoffSeconds`. */
export interface RetrySettings {
  maxAttempts: number;
  backoffSeconds?: number;
  maxBackoffSeconds?: number;
}

/** What every node's `data` may hold, whatever its type. */
export interface CommonNodeData {
  label?: string;
  failStrategy?: FailStrategy;
  timeoutSeconds?: number;
  retry?: RetrySettings;
  /** AGENTIC only. */
  join?: 'any' | 'all';
}

/** A node as stored: `data` holds the common keys and those of its type (see node-types/). */
export interface GraphNode {
  id: string;
  type: NodeType;
  data: CommonNodeData & JsonObject;
}

export interface GraphEdge {
  id: string;
  source: string;
  target: string;
  /** Which outcome of the source the edge belongs to (a condition's case id or `else`); null: any. */
  sourceHandle: string | null;
}

export interface GraphData {
  nodes: GraphNode[];
  edges: GraphEdge[];
}

/** `settings` of a workflow version (contract.md). */
export interface WorkflowSettings {
  runTimeoutSeconds?: number;
  budget?: { tokens?: number; toolCalls?: number };
  concurrency?: number;
  goal?: string;
  planner?: { type: 'llm' | 'edges'; model?: string; scope?: 'graph' | 'edges'; maxParallel?: number };
  maxVisits?: number;
  maxVisitsPerNode?: number;
}

/** A field that a person or an integrator fills in (`userInput`, `humanInput`). */
export interface InputField {
  name: string;
  type: 'string' | 'number' | 'integer' | 'boolean' | 'object' | 'array' | 'file' | 'select';
  required?: boolean;
  label?: string;
  description?: string;
  default?: JsonObject[string];
  options?: JsonObject[string][];
}

/** Stable codes of what can be wrong with a definition; docs/workflows.md explains each. */
export const GRAPH_PROBLEM_CODES = [
  'GRAPH_MALFORMED',
  'NODE_MALFORMED',
  'EDGE_MALFORMED',
  'TOO_LARGE',
  'INVALID_NODE_ID',
  'RESERVED_NODE_ID',
  'DUPLICATE_NODE_ID',
  'UNKNOWN_NODE_TYPE',
  'INVALID_NODE_DATA',
  'NODE_UNAVAILABLE',
  'TEMPLATE_SYNTAX',
  'DANGLING_EDGE',
  'DUPLICATE_EDGE',
  'DUPLICATE_EDGE_ID',
  'UNKNOWN_HANDLE',
  'CYCLE',
  'MISSING_USER_INPUT',
  'MULTIPLE_USER_INPUTS',
  'USER_INPUT_NOT_ALLOWED',
  'MISSING_OUTPUT',
  'UNREACHABLE_NODE',
  'UNKNOWN_REFERENCE',
  'NOT_AN_ANCESTOR',
  'SUB_WORKFLOW_CYCLE',
  'INVALID_MODE',
  'INVALID_SETTINGS',
] as const;
export type GraphProblemCode = (typeof GRAPH_PROBLEM_CODES)[number];

/**
 * One thing that is wrong with a definition; `nodeId` or `edgeId` says where, `field` is a dotted path into the
 * node's `data` or into `settings`. A node within an iteration is `{iteration}.{inner}`.
 */
export interface GraphProblem {
  nodeId: string | null;
  edgeId: string | null;
  field: string | null;
  code: GraphProblemCode;
  message: string;
}
