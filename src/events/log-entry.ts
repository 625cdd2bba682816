import type { LogType } from './run-event.js';

/** An entry of a node's log as callers see it (decision 14; internal-context-query.md §2.3 `logs`). */
export interface LogEntry {
  type: LogType;
  timestamp: string;
  /** Thinking and texts: the text. Tool calls and results: the tool's name. Errors: the error. */
  message: string;
  /** Tool calls: the arguments; results: the result; todo: the list; all as JSON text. Else null. */
  detail: string | null;
}
