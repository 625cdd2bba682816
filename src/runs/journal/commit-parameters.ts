import {
  integerArray,
  longTextArray,
  textArray,
  type ArrayParameter,
} from '../../database/array-parameter.js';
import type { StreamProjection } from '../../events/stream-payload.js';
import type { CommitPart } from './commit-statement.js';
import type { JournalEntry, RunEnd, RunRest, VisitChange, VisitRow } from './journal-entry.js';

/** One entry on its way into the shared commit, with its events already serialised and numbered. */
export interface PreparedEntry {
  runId: string;
  epoch: number;
  /** ISO-8601 UTC; the time of everything in the entry. */
  at: string;
  /** Number of the first event. */
  firstSeq: number;
  projections: readonly StreamProjection[];
  entry: JournalEntry;
}

type VisitState = Omit<VisitChange, 'status'> & { status: VisitChange['status'] | VisitRow['status'] };

/** A visit's row as the whole commit leaves it; `of` is the entry that does. */
interface CommittedVisit {
  of: PreparedEntry;
  /** Set where it begins within the commit. */
  begun: { visit: VisitRow; at: string } | null;
  state: VisitState;
}

type BegunVisit = CommittedVisit & { begun: NonNullable<CommittedVisit['begun']> };

interface CommittedEvent {
  of: PreparedEntry;
  seq: number;
  event: StreamProjection;
}

interface ClosedRun {
  of: PreparedEntry;
  /** The run ends, or else it rests. */
  end: RunEnd | null;
  rest: RunRest | null;
}

/** The parts that a commit has something for, and the columns of all of them as arrays, in their order. */
export interface CommitParameters {
  readonly parts: readonly CommitPart[];
  readonly values: readonly ArrayParameter[];
}

/**
 * What `commitStatement` needs. Several entries of a run may share the
 * commit, and no part of one statement sees what another part writes: of two updates of a row PostgreSQL takes any one,
 * and an update finds no row that is being inserted. So each visit and each run has one row here, as the last entry
 * leaves it.
 */
export function commitParameters(entries: readonly PreparedEntry[]): CommitParameters {
  const epochs = new Map<string, number>();
  const visits = new Map<string, CommittedVisit>();
  const events: CommittedEvent[] = [];
  const closed = new Map<string, ClosedRun>();
  for (const of of entries) {
    const { runId, epoch, at, firstSeq, projections, entry } = of;
    epochs.set(runId, epoch);
    for (const visit of entry.begun ?? []) {
      const state = stateOf(visit);
      visits.set(`${runId} ${visit.sortOrder}`, { of, begun: { visit, at }, state });
    }
    for (const change of entry.changed ?? []) {
      const key = `${runId} ${change.sortOrder}`;
      visits.set(key, { of, begun: visits.get(key)?.begun ?? null, state: change });
    }
    projections.forEach((event, index) => events.push({ of, seq: firstSeq + index, event }));
    if (entry.end || entry.rest) {
      closed.set(runId, { of, end: entry.end ?? null, rest: entry.end ? null : (entry.rest ?? null) });
    }
  }
  const rows = [...visits.values()];
  const columns: readonly (readonly [CommitPart, readonly ArrayParameter[] | null])[] = [
    ['begun', unlessEmpty(rows.filter(isBegun), begunColumns)],
    [
      'changed',
      unlessEmpty(
        rows.filter((row) => !isBegun(row)),
        changedColumns,
      ),
    ],
    ['recorded', unlessEmpty(events, eventColumns)],
    ['ended', unlessEmpty([...closed.values()], closedColumns)],
  ];
  const held = [textArray([...epochs.keys()]), integerArray([...epochs.values()])];
  return {
    parts: columns.flatMap(([part, values]) => (values ? [part] : [])),
    values: [...held, ...columns.flatMap(([, values]) => values ?? [])],
  };
}

function unlessEmpty<T>(
  rows: readonly T[],
  columnsOf: (rows: readonly T[]) => ArrayParameter[],
): ArrayParameter[] | null {
  return rows.length === 0 ? null : columnsOf(rows);
}

function isBegun(row: CommittedVisit): row is BegunVisit {
  return row.begun !== null;
}

function stateOf({ sortOrder, status, envelope, chosenHandle }: VisitRow): VisitState {
  return {
    sortOrder,
    status,
    envelope,
    chosenHandle,
    attempt: 1,
    errorCode: null,
    waiting: null,
    tokens: 0,
    toolCalls: 0,
  };
}

function begunColumns(rows: readonly BegunVisit[]): ArrayParameter[] {
  return [
    textArray(rows.map(({ of }) => of.runId)),
    integerArray(rows.map(({ state }) => state.sortOrder)),
    textArray(rows.map(({ begun }) => begun.visit.visitUuid)),
    textArray(rows.map(({ begun }) => begun.visit.nodeId)),
    textArray(rows.map(({ begun }) => begun.visit.nodeType)),
    integerArray(rows.map(({ begun }) => begun.visit.iterSeq)),
    textArray(rows.map(({ begun }) => `{${begun.visit.predecessors.join(',')}}`)),
    textArray(
      rows.map(({ begun }) => begun.visit.skippedBecause && `{${begun.visit.skippedBecause.join(',')}}`),
    ),
    textArray(rows.map(({ begun }) => begun.at)),
    ...stateColumns(rows),
  ];
}

function changedColumns(rows: readonly CommittedVisit[]): ArrayParameter[] {
  return [
    textArray(rows.map(({ of }) => of.runId)),
    integerArray(rows.map(({ state }) => state.sortOrder)),
    ...stateColumns(rows),
  ];
}

function stateColumns(rows: readonly CommittedVisit[]): ArrayParameter[] {
  return [
    textArray(rows.map(({ state }) => state.status)),
    integerArray(rows.map(({ state }) => state.attempt)),
    longTextArray(rows.map(({ state }) => json(state.envelope))),
    textArray(rows.map(({ state }) => state.chosenHandle ?? null)),
    textArray(rows.map(({ state }) => state.errorCode ?? null)),
    textArray(rows.map(({ state }) => json(state.waiting))),
    integerArray(rows.map(({ state }) => state.tokens)),
    integerArray(rows.map(({ state }) => state.toolCalls)),
    textArray(rows.map(({ of }) => of.at)),
  ];
}

function eventColumns(rows: readonly CommittedEvent[]): ArrayParameter[] {
  return [
    textArray(rows.map(({ of }) => of.runId)),
    integerArray(rows.map(({ seq }) => seq)),
    textArray(rows.map(({ event }) => event.type)),
    textArray(rows.map(({ event }) => event.nodeId)),
    textArray(rows.map(({ event }) => event.visitUuid)),
    integerArray(rows.map(({ event }) => event.iterSeq)),
    textArray(rows.map(({ event }) => event.logType)),
    textArray(rows.map(({ of }) => of.at)),
    longTextArray(rows.map(({ event }) => event.payload)),
  ];
}

function closedColumns(rows: readonly ClosedRun[]): ArrayParameter[] {
  return [
    textArray(rows.map(({ of }) => of.runId)),
    textArray(rows.map(({ end }) => end && end.status)),
    textArray(rows.map(({ end }) => end && end.statusReason)),
    textArray(rows.map(({ end }) => end && json(end.error))),
    textArray(rows.map(({ end }) => end && json(end.errorDetail))),
    longTextArray(rows.map(({ end }) => end && json(end.outputs))),
    textArray(rows.map(({ of, end }) => end && of.at)),
    textArray(rows.map(({ rest }) => rest && rest.wakeAt.toISOString())),
    integerArray(rows.map(({ rest }) => rest && rest.wakesSeen)),
  ];
}

function json(value: unknown): string | null {
  return value === null || value === undefined ? null : JSON.stringify(value);
}
