import { randomUUID } from 'node:crypto';
import type { JsonObject } from '../../src/common/json/json-value.js';
import { newRunId } from '../../src/common/ids/run-id.js';
import type { RecordedRunEvent, RunEvent, VisitLogEntry, VisitRef } from '../../src/events/run-event.js';
import type { RunEventEntity } from '../../src/events/run-event.entity.js';
import { projectEvent } from '../../src/events/stream-payload.js';
import { failed, succeeded, type Envelope } from '../../src/runs/envelope.js';
import type { VisitEntity } from '../../src/runs/visit.entity.js';
import type { NodeType } from '../../src/workflows/graph/graph-data.js';

/**
 * A run as it would have been recorded, without an engine: the events as the bus hands them on, and the rows that
 * the journal would have written for them.
 */
export class RecordedRun {
  readonly events: RecordedRunEvent[] = [];
  readonly visitRows: VisitEntity[] = [];
  readonly eventRows: RunEventEntity[] = [];
  #millis = Date.parse('2026-01-01T00:00:00Z');

  constructor(readonly runId = newRunId()) {
    this.record({ kind: 'run-started' });
  }

  begin(nodeId: string, predecessors: readonly VisitRef[] = [], nodeType: NodeType = 'agent'): VisitRef {
    const iterSeq = this.visitRows.filter((row) => row.nodeId === nodeId).length + 1;
    const visit: VisitRef = { visitUuid: randomUUID(), nodeId, nodeType, label: nodeId, iterSeq };
    const row = this.#row(visit, 'RUNNING', predecessors);
    this.record({
      kind: 'visit-started',
      visit,
      attempt: 1,
      sortOrder: row.sortOrder,
      predecessors: row.predecessors,
    });
    return visit;
  }

  /** The same visit begins again. */
  retry(visit: VisitRef): void {
    const row = this.#rowOf(visit);
    row.attempt += 1;
    const { attempt, sortOrder, predecessors } = row;
    this.record({ kind: 'visit-started', visit, attempt, sortOrder, predecessors });
  }

  log(visit: VisitRef, ...entries: VisitLogEntry[]): void {
    for (const entry of entries) this.record({ kind: 'visit-logged', visit, entry });
  }

  think(visit: VisitRef, ...texts: string[]): void {
    for (const text of texts) this.log(visit, { type: 'thinking', text });
  }

  end(visit: VisitRef, data: JsonObject = {}): void {
    this.#end(visit, 'SUCCESS', succeeded(data), null);
  }

  fail(visit: VisitRef, message: string): void {
    this.#end(visit, 'FAILED', failed(message), 'NODE_FAILED');
  }

  skip(nodeId: string, because: readonly string[] = []): void {
    const visit: VisitRef = { visitUuid: randomUUID(), nodeId, nodeType: 'agent', label: nodeId, iterSeq: 1 };
    this.#row(visit, 'SKIPPED', []).skippedBecause = [...because];
    this.record({ kind: 'node-skipped', visit, skippedBecause: because });
  }

  finish(): void {
    this.record({
      kind: 'run-finished',
      status: 'SUCCESS',
      statusReason: null,
      error: null,
      nodeId: null,
      outputs: {},
      resultUrl: '/result',
      workspaceUrl: '/workspace',
    });
  }

  /** Numbers an event and keeps it, and its row. */
  record(event: RunEvent): RecordedRunEvent {
    this.#millis += 1;
    const at = new Date(this.#millis);
    const seq = this.events.length + 1;
    const { runId } = this;
    const projection = projectEvent(runId, event, at.toISOString());
    const { type, payload } = projection;
    this.eventRows.push({ ...projection, runId, seq, at });
    const recorded = { runId, seq, type, timestamp: at.toISOString(), payload, event };
    this.events.push(recorded);
    return recorded;
  }

  #end(visit: VisitRef, status: 'SUCCESS' | 'FAILED', envelope: Envelope, errorCode: string | null): void {
    const { timestamp } = this.record({ kind: 'visit-ended', visit, status, envelope, errorCode });
    Object.assign(this.#rowOf(visit), { status, envelope, errorCode, completedAt: new Date(timestamp) });
  }

  #rowOf(visit: VisitRef): VisitEntity {
    const row = this.visitRows.find(({ visitUuid }) => visitUuid === visit.visitUuid);
    if (!row) throw new Error(`visit ${visit.visitUuid} has not begun`);
    return row;
  }

  #row(
    { visitUuid, nodeId, nodeType, iterSeq }: VisitRef,
    status: VisitEntity['status'],
    predecessors: readonly VisitRef[],
  ): VisitEntity {
    const row: VisitEntity = {
      runId: this.runId,
      sortOrder: this.visitRows.length + 1,
      visitUuid,
      nodeId,
      nodeType,
      iterSeq,
      attempt: 1,
      status,
      predecessors: predecessors.map((predecessor) => predecessor.visitUuid),
      envelope: null,
      chosenHandle: null,
      errorCode: null,
      skippedBecause: null,
      waiting: null,
      tokens: 0,
      toolCalls: 0,
      startedAt: new Date(this.#millis),
      completedAt: null,
    };
    this.visitRows.push(row);
    return row;
  }
}
