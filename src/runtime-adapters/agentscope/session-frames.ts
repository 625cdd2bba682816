import { count, isObject, parsed, text, textOrNull } from './json-fields.js';
import type { JsonValue } from '../../common/json/json-value.js';

/** What one event of `GET /sessions/{id}/stream` (AgentScope 2.0) says. */
export type SessionSignal =
  | { kind: 'reply_start'; replyId: string }
  | { kind: 'text'; blockId: string; text: string }
  | { kind: 'text_end'; blockId: string; text: string }
  | { kind: 'thinking'; text: string }
  | { kind: 'tool_start'; callId: string; tool: string }
  | { kind: 'tool_args'; callId: string; piece: string }
  | { kind: 'tool_call'; callId: string }
  | { kind: 'tool_output'; callId: string; piece: string }
  | { kind: 'tool_result'; callId: string; state: string }
  | { kind: 'usage'; promptTokens: number; completionTokens: number }
  | { kind: 'waits' }
  | { kind: 'reply_end'; reason: string; code: string | null; message: string | null };

export interface SessionEvent {
  /** For leaving out what a second connection replays. */
  readonly id: string | null;
  readonly replyId: string | null;
  readonly signal: SessionSignal;
}

/** Null for an event that is only informational or unknown. */
export function sessionEventOf(event: unknown): SessionEvent | null {
  if (!isObject(event)) return null;
  const signal = signalOf(event);
  return signal && { id: textOrNull(event.id), replyId: textOrNull(event.reply_id), signal };
}

function signalOf(event: Record<string, unknown>): SessionSignal | null {
  const callId = text(event.tool_call_id);
  const blockId = text(event.block_id);
  const delta = text(event.delta);
  switch (event.type) {
    case 'REPLY_START':
      return { kind: 'reply_start', replyId: text(event.reply_id) };
    case 'TEXT_BLOCK_DELTA':
      return { kind: 'text', blockId, text: delta };
    case 'TEXT_BLOCK_END':
      // Only where the block is not the sum of its deltas.
      return typeof event.text === 'string' ? { kind: 'text_end', blockId, text: event.text } : null;
    case 'THINKING_BLOCK_DELTA':
      return { kind: 'thinking', text: delta };
    case 'TOOL_CALL_START':
      return { kind: 'tool_start', callId, tool: text(event.tool_call_name) };
    case 'TOOL_CALL_DELTA':
      return { kind: 'tool_args', callId, piece: delta };
    case 'TOOL_CALL_END':
      return { kind: 'tool_call', callId };
    case 'TOOL_RESULT_TEXT_DELTA':
      return { kind: 'tool_output', callId, piece: delta };
    case 'TOOL_RESULT_END':
      return { kind: 'tool_result', callId, state: text(event.state) };
    case 'MODEL_CALL_END':
      return {
        kind: 'usage',
        promptTokens: count(event.input_tokens) ?? 0,
        completionTokens: count(event.output_tokens) ?? 0,
      };
    case 'REQUIRE_USER_CONFIRM':
    case 'REQUIRE_EXTERNAL_EXECUTION':
      return { kind: 'waits' };
    case 'REPLY_END': {
      const error = isObject(event.error) ? event.error : { message: event.error };
      const code = textOrNull(error.code) ?? textOrNull(error.type);
      return {
        kind: 'reply_end',
        reason: text(event.finished_reason) || 'completed',
        code,
        message: textOrNull(error.message),
      };
    }
    default:
      return null;
  }
}

/** Arguments and results come as pieces of a text that is mostly JSON. */
export function toolValue(pieces: string): JsonValue {
  return parsed(pieces);
}
