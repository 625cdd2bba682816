import { capField, FIELD_BYTES, keyBytes } from './cap-field.js';
import { ToolError } from './bridge-tool.js';

/**
 * Picks the known fields out of an answer and nothing else (internal-context-query.md §9.4). Ids of runs and visits are
 * left out on purpose: they are half of what a request needs, and must not come to lie in a prompt (§9.3).
 */
export type ReadAnswer = (data: unknown) => Record<string, unknown>;

type Fields = Record<string, (value: unknown) => unknown>;

const text = (value: unknown): unknown => (typeof value === 'string' ? value : undefined);
const whole = (value: unknown): unknown => (Number.isSafeInteger(value) ? value : undefined);
const flag = (value: unknown): unknown => (typeof value === 'boolean' ? value : undefined);
const anything = (value: unknown): unknown => value;
const textOrNull = (value: unknown): unknown => (value === null ? null : text(value));
const listOf =
  (item: (value: unknown) => unknown) =>
  (value: unknown): unknown =>
    Array.isArray(value) ? value.map(item).filter((kept) => kept !== undefined) : undefined;
const objectOf =
  (fields: Fields) =>
  (value: unknown): unknown =>
    isObject(value) ? pick(value, fields) : undefined;

const path: Fields = {
  nodeIds: listOf(text),
  paths: listOf(objectOf({ sequence: listOf(text), hasBacktrack: flag })),
  backtrackEdgeKeys: listOf(text),
  truncated: flag,
};

const output: Fields = {
  nodeId: text,
  iterSeq: whole,
  status: whole,
  message: text,
  data: anything,
  requestedField: textOrNull,
  truncated: flag,
};

const meta: Fields = {
  nodeId: text,
  iterSeq: whole,
  thinking: text,
  toolCalls: listOf(objectOf({ tool: text, args: text, result: text })),
  todoList: listOf(anyTodo),
  logs: listOf(objectOf({ type: text, timestamp: text, message: text, detail: textOrNull })),
  truncated: flag,
};

/** All keys of a node's data together: a node that makes up many keys must not flood the model either (§9.3). */
const DATA_BYTES = 10 * FIELD_BYTES;

/** Paths listed by the server at most; as many mean that there may be more. */
const PATHS_LISTED = 100;

export const readPathAnswer: ReadAnswer = (data) => {
  const answer = capFields(pick(anObject(data), path));
  const listed = Array.isArray(answer['paths']) ? answer['paths'].length : 0;
  if (listed < PATHS_LISTED && answer['truncated'] !== true) return answer;
  return {
    ...answer,
    truncated: true,
    hint: 'There may be more paths than these. Ask for the nodes you need with get_node_output and their node_id.',
  };
};

export const readOutputAnswer: ReadAnswer = (data) => {
  const answer = pick(anObject(data), output);
  const { data: value, ...rest } = answer;
  // Without a requested field every key of the node's data is a field of its own.
  const capped =
    isObject(value) && typeof answer['requestedField'] !== 'string'
      ? capEach(value, DATA_BYTES)
      : capField(value);
  const described = capFields(rest);
  const truncated = capped.truncated || described['truncated'] === true;
  return { ...described, data: capped.value, ...(truncated ? { truncated: true } : {}) };
};

export const readMetaAnswer: ReadAnswer = (data) => capFields(pick(anObject(data), meta));

function anyTodo(value: unknown): unknown {
  if (typeof value === 'string') return value;
  const fields = { id: anything, text, content: text, title: text, status: text, priority: anything };
  return isObject(value) ? pick(value, fields) : undefined;
}

function pick(object: Record<string, unknown>, fields: Fields): Record<string, unknown> {
  const picked: Record<string, unknown> = {};
  for (const [name, read] of Object.entries(fields)) {
    const value = Object.hasOwn(object, name) ? read(object[name]) : undefined;
    if (value !== undefined) picked[name] = value;
  }
  return picked;
}

function capFields(object: Record<string, unknown>): Record<string, unknown> {
  const { value, truncated } = capEach(object);
  return truncated ? { ...value, truncated: true } : value;
}

/** Each field within its own limit, all together within `room`. */
function capEach(
  object: Record<string, unknown>,
  room = Infinity,
): { value: Record<string, unknown>; truncated: boolean } {
  let left = room;
  let truncated = false;
  const kept: [string, unknown][] = [];
  for (const [name, value] of Object.entries(object)) {
    // With the quotes of a text.
    left -= keyBytes(name, false) + 2;
    if (left <= 0) {
      truncated = true;
      break;
    }
    const capped = capField(value, Math.min(FIELD_BYTES, left));
    left -= capped.bytes;
    truncated ||= capped.truncated;
    kept.push([name, capped.value]);
  }
  return { value: Object.fromEntries(kept), truncated };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function anObject(data: unknown): Record<string, unknown> {
  if (!isObject(data)) throw new ToolError('the context query was answered without data');
  return data;
}
