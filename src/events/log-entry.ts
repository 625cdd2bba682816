import { assertNever } from '../common/errors/assert-never.js';
import type { LogType, RunEvent } from './run-event.js';

/** An entry of a node's log as callers see it (decision 14; internal-context-query.md §2.3 `logs`). */
export interface LogEntry {
  type: LogType;
  /** ISO-8601 UTC. */
  timestamp: string;
  /** Thinking, information, errors: the text. Tool calls and results: the tool's name. Todo: empty. */
  message: string;
  /** Tool calls: the arguments; results: the result; todo: the list as JSON text; else null. */
  detail: string | null;
}

interface LoggedPayload {
  timestamp: string;
  content?: string;
  toolName?: string | null;
  error?: string | null;
}

/** Reads a log entry out of the stored payload of the event that carried it. */
export function toLogEntry(logType: LogType, payload: string): LogEntry {
  const { timestamp, content = '', toolName, error } = JSON.parse(payload) as LoggedPayload;
  switch (logType) {
    case 'THINKING':
    case 'INFO':
      return { type: logType, timestamp, message: content, detail: null };
    case 'TOOL_CALL':
    case 'TOOL_RESULT':
      return { type: logType, timestamp, message: toolName ?? '', detail: content };
    case 'TODO_UPDATE':
      return { type: logType, timestamp, message: '', detail: content };
    case 'ERROR':
      return { type: logType, timestamp, message: error ?? '', detail: null };
  }
}

/** Which entry of its node's log an event is, as `projectEvent` has it stored; null where it is none. */
export function logTypeOf(event: RunEvent): LogType | null {
  if (event.kind === 'visit-ended') return event.status === 'FAILED' ? 'ERROR' : null;
  if (event.kind !== 'visit-logged') return null;
  switch (event.entry.type) {
    case 'text':
      return null;
    case 'thinking':
      return 'THINKING';
    case 'tool_call':
      return 'TOOL_CALL';
    case 'tool_result':
      return 'TOOL_RESULT';
    case 'todo':
      return 'TODO_UPDATE';
    case 'info':
      return 'INFO';
    default:
      return assertNever(event.entry);
  }
}
