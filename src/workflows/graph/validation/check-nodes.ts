import type { NodeType } from '../graph-data.js';
import type { NodeReading } from '../node-types/node-type.js';
import { isNodeType, nodeTypes } from '../node-types/node-types.js';
import { quote, type ProblemList } from './problem-list.js';
import { isRecord, type RawNode } from './read-graph.js';

const NODE_ID = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/;
/** Decision 43; then words of the template language, which would hide a node; then names every object has. */
const RESERVED_IDS: ReadonlySet<string> = new Set([
  ...['planner', 'item', 'index'],
  ...[
    'true',
    'false',
    'nil',
    'null',
    'empty',
    'blank',
    'and',
    'or',
    'not',
    'contains',
    'forloop',
    'tablerowloop',
  ],
  ...Object.getOwnPropertyNames(Object.prototype),
]);

/** A node whose id is its own, with what its data says; `reading` is null where that cannot be known. */
export interface CheckedNode {
  readonly id: string;
  readonly type: NodeType | null;
  readonly reading: NodeReading | null;
}

/** Checks each node by itself: id, type, data. Of nodes with one id the first is kept. */
export function checkNodes(
  nodes: readonly RawNode[],
  mode: 'DAG' | 'AGENTIC',
  problems: ProblemList,
): CheckedNode[] {
  const seen = new Map<string, CheckedNode>();
  for (const node of nodes) {
    checkId(node.id, problems);
    if (seen.has(node.id)) {
      problems.add('DUPLICATE_NODE_ID', `more than one node has the id ${quote(node.id)}`, {
        nodeId: node.id,
      });
    }
    const checked = checkNode(node, mode, problems);
    if (!seen.has(node.id)) seen.set(node.id, checked);
  }
  return [...seen.values()];
}

function checkId(id: string, problems: ProblemList): void {
  if (!NODE_ID.test(id)) {
    const rule = 'must begin with a letter and hold at most 64 letters, digits, _ and -';
    problems.add('INVALID_NODE_ID', `the node id ${quote(id)} ${rule}`, { nodeId: id });
  } else if (RESERVED_IDS.has(id)) {
    problems.add('RESERVED_NODE_ID', `the node id ${quote(id)} is reserved`, { nodeId: id });
  }
}

function checkNode({ id, type, data }: RawNode, mode: 'DAG' | 'AGENTIC', problems: ProblemList): CheckedNode {
  if (!isNodeType(type)) {
    const name = typeof type === 'string' ? quote(type) : 'none';
    problems.add('UNKNOWN_NODE_TYPE', `node ${quote(id)} has an unknown type: ${name}`, { nodeId: id });
    return { id, type: null, reading: null };
  }
  if (!isRecord(data)) {
    const message = `node ${quote(id)}: data must be an object`;
    problems.add('INVALID_NODE_DATA', message, { nodeId: id, field: '' });
    return { id, type, reading: null };
  }
  const reading = nodeTypes[type].read(data);
  for (const { field, message } of reading.problems) {
    const text = `node ${quote(id)}, ${field}: ${message}`;
    problems.add('INVALID_NODE_DATA', text, { nodeId: id, field });
  }
  if (reading.unavailable) {
    const { field, message } = reading.unavailable;
    problems.add('NODE_UNAVAILABLE', `node ${quote(id)}, ${field}: ${message}`, { nodeId: id, field });
  }
  if (mode === 'DAG' && data.join === 'any') {
    const text = `node ${quote(id)}, join: "any" exists in AGENTIC mode only`;
    problems.add('INVALID_NODE_DATA', text, { nodeId: id, field: 'join' });
  }
  return { id, type, reading };
}
