import { assertNever } from '../common/errors/assert-never.js';
import type { LogType, RunEvent, StreamEventType, VisitLogEntry, VisitRef } from './run-event.js';

/** How an event is stored and shown: its stream name, its place, and the JSON text every reader gets. */
export interface StreamProjection {
  type: StreamEventType;
  nodeId: string | null;
  visitUuid: string | null;
  iterSeq: number | null;
  /** Set where the event is an entry of its node's log. */
  logType: LogType | null;
  payload: string;
}

/** Serialises an event for the public stream (external-workflow-api.md, "SSE 流"; contract.md). */
export function projectEvent(runId: string, event: RunEvent, timestamp: string): StreamProjection {
  switch (event.kind) {
    case 'run-started':
      return ofRun('run_started', { runId, type: 'run_started', timestamp });
    case 'visit-started':
      return status(runId, event.visit, timestamp, null, {
        status: 'RUNNING',
        attempt: event.attempt,
        predecessors: event.predecessors,
      });
    case 'visit-waiting':
      return status(runId, event.visit, timestamp, null, {
        status: 'WAITING',
        waitingFor: event.waitingFor,
      });
    case 'visit-ended': {
      const error = event.status === 'FAILED' ? event.envelope.message : null;
      return status(runId, event.visit, timestamp, error === null ? null : 'ERROR', {
        status: event.status,
        error,
        ...(error === null ? {} : { errorDetail: errorDetail(event.visit, event.errorCode) }),
      });
    }
    case 'node-skipped':
      return status(runId, event.visit, timestamp, null, {
        status: 'SKIPPED',
        skippedBecause: event.skippedBecause,
      });
    case 'visit-logged':
      return stream(runId, event.visit, timestamp, event.entry);
    case 'run-finished':
      return event.status === 'SUCCESS'
        ? ofRun('workflow_complete', {
            runId,
            type: 'workflow_complete',
            status: event.status,
            outputs: event.outputs,
            resultUrl: event.resultUrl,
            workspaceUrl: event.workspaceUrl,
            timestamp,
          })
        : ofRun('workflow_error', {
            runId,
            type: 'workflow_error',
            status: event.status,
            error: event.error,
            nodeId: event.nodeId,
            statusReason: event.statusReason,
            resultUrl: event.resultUrl,
            timestamp,
          });
    default:
      return assertNever(event);
  }
}

function errorDetail(visit: VisitRef, code: string | null): Record<string, unknown> {
  return { code: code ?? 'NODE_FAILED', nodeId: visit.nodeId, visitUuid: visit.visitUuid };
}

function ofRun(type: StreamEventType, payload: Record<string, unknown>): StreamProjection {
  return {
    type,
    nodeId: null,
    visitUuid: null,
    iterSeq: null,
    logType: null,
    payload: JSON.stringify(payload),
  };
}

function ofVisit(
  runId: string,
  visit: VisitRef,
  timestamp: string,
  type: StreamEventType,
  logType: LogType | null,
  rest: Record<string, unknown>,
): StreamProjection {
  const payload = {
    runId,
    type,
    nodeId: visit.nodeId,
    nodeType: visit.nodeType,
    label: visit.label,
    visitUuid: visit.visitUuid,
    iterSeq: visit.iterSeq,
    ...rest,
    timestamp,
  };
  return {
    type,
    nodeId: visit.nodeId,
    visitUuid: visit.visitUuid,
    iterSeq: visit.iterSeq,
    logType,
    payload: JSON.stringify(payload),
  };
}

function status(
  runId: string,
  visit: VisitRef,
  timestamp: string,
  logType: LogType | null,
  rest: Record<string, unknown>,
): StreamProjection {
  return ofVisit(runId, visit, timestamp, 'node_status', logType, rest);
}

function stream(runId: string, visit: VisitRef, timestamp: string, entry: VisitLogEntry): StreamProjection {
  const [logType, shown] = showEntry(entry);
  return ofVisit(runId, visit, timestamp, 'node_stream', logType, { status: 'RUNNING', ...shown });
}

/** `content` is a string for every kind: text as it is, anything else as JSON text. */
function showEntry(entry: VisitLogEntry): [LogType | null, Record<string, unknown>] {
  switch (entry.type) {
    case 'thinking':
      return ['THINKING', { kind: 'thinking', content: entry.text, toolName: null }];
    case 'text':
      return [null, { kind: 'text', content: entry.text, toolName: null }];
    case 'tool_call':
      return [
        'TOOL_CALL',
        { kind: 'tool_call', content: asText(entry.args), toolName: entry.tool, callId: entry.callId },
      ];
    case 'tool_result':
      return [
        'TOOL_RESULT',
        {
          kind: 'tool_result',
          content: entry.error ?? asText(entry.result),
          toolName: entry.tool,
          callId: entry.callId,
          error: entry.error,
        },
      ];
    case 'todo':
      return ['TODO_UPDATE', { kind: 'todo', content: JSON.stringify(entry.todos), toolName: null }];
    case 'info':
      return ['INFO', { kind: 'info', content: entry.message, toolName: null }];
    default:
      return assertNever(entry);
  }
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
