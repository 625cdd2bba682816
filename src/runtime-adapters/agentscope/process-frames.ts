import type { JsonObject, JsonValue } from '../../common/json/json-value.js';
import { count, isObject, parsed, text, textOrNull, type Fields } from './json-fields.js';

/** What one frame of `POST /process` (AgentScope Runtime 1.1) says. */
export type ProcessSignal =
  | { kind: 'response'; id: string | null }
  | { kind: 'message'; messageId: string; type: string }
  | { kind: 'piece'; messageId: string; index: number; text: string; isWhole: boolean }
  | { kind: 'data'; messageId: string; data: JsonObject }
  | { kind: 'tool_call'; callId: string; tool: string; args: JsonValue }
  | { kind: 'tool_result'; callId: string; tool: string; result: JsonValue }
  | { kind: 'usage'; messageId: string | null; promptTokens: number | null; completionTokens: number | null }
  | { kind: 'approval' }
  | { kind: 'heartbeat' }
  | { kind: 'ended'; status: 'completed' | 'canceled' | 'incomplete' }
  | { kind: 'failed'; code: string | null; message: string | null; isBare: boolean };

/** Nothing for a frame that is only informational or unknown. */
export function processSignalsOf(frame: unknown): ProcessSignal[] {
  if (!isObject(frame)) return [];
  switch (frame.object) {
    case 'response':
      return responseSignals(frame);
    case 'message':
      return messageSignals(frame);
    case 'content':
      return contentSignals(frame, text(frame.msg_id));
    default:
      // A body that was refused, or a server without a runner, answers with this and nothing else.
      return frame.error === undefined || frame.error === null ? [] : [failedOf(frame.error, true)];
  }
}

function responseSignals(frame: Fields): ProcessSignal[] {
  const found: ProcessSignal[] = [{ kind: 'response', id: textOrNull(frame.id) }];
  switch (frame.status) {
    case 'completed':
    case 'canceled':
    case 'incomplete': {
      const output = Array.isArray(frame.output) ? frame.output.filter(isObject).flatMap(messageSignals) : [];
      return [...found, ...output, ...usageOf(frame.usage, null), { kind: 'ended', status: frame.status }];
    }
    case 'failed':
    case 'rejected':
      return [...found, failedOf(frame.error ?? { code: frame.status }, false)];
    default:
      return found;
  }
}

/** A message is announced when it is created, and repeated whole when it is completed. */
function messageSignals(message: Fields): ProcessSignal[] {
  const messageId = text(message.id);
  // What came from us is no answer.
  const isInput = message.role === 'user' || message.role === 'system';
  const type = isInput ? 'input' : text(message.type) || 'message';
  if (type === 'heartbeat') return [{ kind: 'heartbeat' }];
  if (type === 'mcp_approval_request') return [{ kind: 'approval' }];
  const found: ProcessSignal[] = [{ kind: 'message', messageId, type }];
  if (type === 'error') return [...found, { kind: 'failed', ...errorOf(message), isBare: false }];
  if (message.status !== 'completed') return found;
  const content = Array.isArray(message.content) ? message.content.filter(isObject) : [];
  return [
    ...found,
    ...content.flatMap((part, index) =>
      contentSignals({ index, ...part, delta: false, status: 'completed' }, messageId),
    ),
    ...usageOf(message.usage, messageId),
  ];
}

function contentSignals(content: Fields, messageId: string): ProcessSignal[] {
  const index = count(content.index) ?? 0;
  const isWhole = content.delta !== true;
  switch (content.type) {
    case 'text':
      return [{ kind: 'piece', messageId, index, text: text(content.text), isWhole }];
    case 'refusal':
      return [{ kind: 'piece', messageId, index, text: text(content.refusal), isWhole }];
    case 'data':
      // A tool's arguments grow from delta to delta; the last frame has them whole.
      return isWhole && isObject(content.data) ? dataSignals(content.data, messageId) : [];
    default:
      return [];
  }
}

function dataSignals(data: Fields, messageId: string): ProcessSignal[] {
  const callId = text(data.call_id) || text(data.id);
  const tool = text(data.name);
  if (callId === '') return [{ kind: 'data', messageId, data: data as JsonObject }];
  if ('output' in data) return [{ kind: 'tool_result', callId, tool, result: parsed(data.output) }];
  return [{ kind: 'tool_call', callId, tool, args: parsed(data.arguments) }];
}

function usageOf(usage: unknown, messageId: string | null): ProcessSignal[] {
  if (!isObject(usage)) return [];
  const promptTokens = count(usage.input_tokens) ?? count(usage.prompt_tokens);
  const completionTokens = count(usage.output_tokens) ?? count(usage.completion_tokens);
  return [{ kind: 'usage', messageId, promptTokens, completionTokens }];
}

function failedOf(error: unknown, isBare: boolean): ProcessSignal {
  return { kind: 'failed', ...errorOf(error), isBare };
}

function errorOf(error: unknown): { code: string | null; message: string | null } {
  if (!isObject(error)) return { code: null, message: textOrNull(error) };
  const code = typeof error.code === 'number' ? String(error.code) : textOrNull(error.code);
  return { code, message: textOrNull(error.message) };
}
