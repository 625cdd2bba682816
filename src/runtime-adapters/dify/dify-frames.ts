import type { JsonObject, JsonValue } from '../../common/json/json-value.js';
import { parseJsonOr } from '../http-sse/read-body.js';
import { plainDecimal } from '../protocol/plain-decimal.js';

/** What one frame of Dify's stream says, free of its spelling. A frame may say several things. */
export type DifySignal =
  | { kind: 'ids'; ids: DifyIds }
  | { kind: 'text'; text: string; from: 'message' | 'agent_message' | 'text_chunk' }
  | { kind: 'replace'; text: string }
  | { kind: 'thinking'; text: string }
  | { kind: 'tool_call'; callId: string; tool: string; args: JsonValue }
  | { kind: 'tool_result'; callId: string; tool: string; result: JsonValue }
  | { kind: 'knowledge' }
  | { kind: 'usage'; usage: DifyUsage }
  | { kind: 'workflow_started' }
  | { kind: 'message_end' }
  | { kind: 'finished'; status: string; outputs: JsonObject; error: string | null }
  | { kind: 'paused' }
  | { kind: 'error'; status: number | null; code: string | null; message: string | null };

export interface DifyIds {
  taskId?: string;
  messageId?: string;
  conversationId?: string;
  workflowRunId?: string;
}

export interface DifyUsage {
  promptTokens: number | null;
  completionTokens: number | null;
  totalTokens: number | null;
  cost?: { amount: string; currency: string };
}

type Frame = Record<string, unknown>;

/** What a frame says; nothing for one that is only informational or unknown. */
export function signalsOf(frame: unknown): DifySignal[] {
  if (!isObject(frame)) return [];
  const ids = idsOf(frame);
  const found: DifySignal[] = Object.keys(ids).length > 0 ? [{ kind: 'ids', ids }] : [];
  return [...found, ...contentOf(frame, isObject(frame.data) ? frame.data : {})];
}

function contentOf(frame: Frame, data: Frame): DifySignal[] {
  switch (frame.event) {
    case 'message':
    case 'agent_message':
      return [{ kind: 'text', text: text(frame.answer), from: frame.event }];
    case 'text_chunk':
      return [{ kind: 'text', text: text(data.text), from: 'text_chunk' }];
    case 'message_replace':
      return [{ kind: 'replace', text: text(frame.answer) }];
    case 'reasoning_chunk':
      return [{ kind: 'thinking', text: text(data.reasoning) }];
    case 'agent_thought':
      return thoughtOf(frame);
    case 'message_end':
      return [...metadataOf(frame.metadata), { kind: 'message_end' }];
    case 'workflow_started':
      return [{ kind: 'workflow_started' }];
    case 'node_started':
    case 'node_finished':
      return data.node_type === 'knowledge-retrieval' ? [{ kind: 'knowledge' }] : [];
    case 'workflow_finished':
      return finishedOf(data);
    case 'workflow_paused':
    case 'human_input_required':
      return [{ kind: 'paused' }];
    case 'error':
      return [
        {
          kind: 'error',
          status: number(frame.status),
          code: textOrNull(frame.code),
          message: textOrNull(frame.message),
        },
      ];
    default:
      return [];
  }
}

/** The signals of a whole answer in one JSON body: blocking mode, or a gateway that gathered the stream. */
export function signalsOfBody(body: unknown): DifySignal[] {
  if (!isObject(body)) return [];
  if (isObject(body.data) && typeof body.data.status === 'string') {
    return signalsOf({ ...body, event: 'workflow_finished' });
  }
  if (typeof body.answer === 'string') {
    const { answer, metadata, ...ids } = body;
    return [
      ...signalsOf({ ...ids, event: 'message', answer }),
      ...signalsOf({ event: 'message_end', metadata }),
    ];
  }
  if (body.event === 'error' || typeof body.code === 'string') return signalsOf({ ...body, event: 'error' });
  return [];
}

/** Of `workflow_finished`, and of `GET /workflows/run/{id}`, which has the same fields at its top. */
export function finishedOf(data: Frame): DifySignal[] {
  const total = number(data.total_tokens);
  const usage: DifySignal[] =
    total === null
      ? []
      : [{ kind: 'usage', usage: { promptTokens: null, completionTokens: null, totalTokens: total } }];
  return [
    ...usage,
    {
      kind: 'finished',
      status: text(data.status),
      outputs: outputsOf(data.outputs),
      error: textOrNull(data.error),
    },
  ];
}

export function metadataOf(metadata: unknown): DifySignal[] {
  if (!isObject(metadata)) return [];
  const found: DifySignal[] = [];
  if (Array.isArray(metadata.retriever_resources) && metadata.retriever_resources.length > 0) {
    found.push({ kind: 'knowledge' });
  }
  if (isObject(metadata.usage)) found.push({ kind: 'usage', usage: usageOf(metadata.usage) });
  return found;
}

/** A thought comes again as it fills up: first the tool, then what it observed. */
function thoughtOf(frame: Frame): DifySignal[] {
  const tool = text(frame.tool);
  if (tool === '') return [];
  const callId = text(frame.id);
  const found: DifySignal[] = [{ kind: 'tool_call', callId, tool, args: parsed(frame.tool_input) }];
  if (text(frame.observation) !== '') {
    found.push({ kind: 'tool_result', callId, tool, result: parsed(frame.observation) });
  }
  if (tool.split(';').some((name) => name.startsWith('dataset_'))) found.push({ kind: 'knowledge' });
  return found;
}

function usageOf(usage: Frame): DifyUsage {
  const price = typeof usage.total_price === 'number' ? String(usage.total_price) : text(usage.total_price);
  const amount = plainDecimal(price);
  return {
    promptTokens: number(usage.prompt_tokens),
    completionTokens: number(usage.completion_tokens),
    totalTokens: number(usage.total_tokens),
    ...(amount !== null ? { cost: { amount, currency: text(usage.currency) || 'USD' } } : {}),
  };
}

function idsOf(frame: Frame): DifyIds {
  const data = isObject(frame.data) ? frame.data : {};
  const isRun = frame.event === 'workflow_started' || frame.event === 'workflow_finished';
  return dropEmpty({
    taskId: id(frame.task_id),
    messageId: id(frame.message_id),
    conversationId: id(frame.conversation_id),
    workflowRunId: id(frame.workflow_run_id) ?? (isRun ? id(data.id) : undefined),
  });
}

function dropEmpty(ids: DifyIds): DifyIds {
  return Object.fromEntries(Object.entries(ids).filter(([, value]) => value !== undefined));
}

/** Ids go into paths of later calls, so that nothing but an id is taken for one. */
function id(value: unknown): string | undefined {
  return typeof value === 'string' && /^[A-Za-z0-9_-]{1,128}$/.test(value) ? value : undefined;
}

/** An object, or its JSON text: `GET /workflows/run/{id}` gives text where the stream gives an object. */
function outputsOf(value: unknown): JsonObject {
  const outputs = typeof value === 'string' ? parsed(value) : value;
  return isObject(outputs) ? (outputs as JsonObject) : {};
}

function parsed(value: unknown): JsonValue {
  if (typeof value !== 'string') return (value ?? null) as JsonValue;
  return parseJsonOr(value, value) as JsonValue;
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

function number(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
