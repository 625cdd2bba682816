import type { Cell, Row } from '../../database/given-rows.js';
import type { StreamProjection } from '../../events/stream-payload.js';
import type { RunOpening } from '../leases/run-opening.js';
import type { CommitPart } from './commit-parts.js';
import type { JournalEntry, RunEnd, RunRest, VisitChange, VisitRow } from './journal-entry.js';

/** One entry on its way into the shared commit, with its events already serialised and numbered. */
export interface PreparedEntry {
  runId: string;
  epoch: number;
  /** Set where the run is still to be started. */
  opening: RunOpening | null;
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

/** A run that starts, ends or rests. */
interface ChangedRun {
  of: PreparedEntry;
  end: RunEnd | null;
  rest: RunRest | null;
}

/** What each part of a commit writes. */
export type CommitRows = Readonly<Record<CommitPart, readonly Row[]>>;

/** Of a run that nobody has started yet. */
const NOT_STARTED_EPOCH = 0;

/**
 * Gathers what a commit writes. Several entries of a run may share it, and no part of one statement sees what another
 * part writes: of two updates of a row PostgreSQL takes any one, and an update finds no row that is being inserted. So
 * each visit and each run has one row here, as the last entry leaves it.
 */
export function commitRows(entries: readonly PreparedEntry[]): CommitRows {
  const epochs = new Map<string, number>();
  const visits = new Map<string, CommittedVisit>();
  const events: CommittedEvent[] = [];
  const runs = new Map<string, ChangedRun>();
  for (const of of entries) {
    const { runId, epoch, opening, at, firstSeq, projections, entry } = of;
    epochs.set(runId, opening ? NOT_STARTED_EPOCH : epoch);
    for (const visit of entry.begun ?? []) {
      const state = stateOf(visit);
      visits.set(`${runId} ${visit.sortOrder}`, { of, begun: { visit, at }, state });
    }
    for (const change of entry.changed ?? []) {
      const key = `${runId} ${change.sortOrder}`;
      visits.set(key, { of, begun: visits.get(key)?.begun ?? null, state: change });
    }
    projections.forEach((event, index) => events.push({ of, seq: firstSeq + index, event }));
    if (entry.end || entry.rest || (opening && !runs.has(runId))) {
      runs.set(runId, { of, end: entry.end ?? null, rest: entry.end ? null : (entry.rest ?? null) });
    }
  }
  const begun: Row[] = [];
  const changed: Row[] = [];
  for (const visit of visits.values()) {
    if (isBegun(visit)) begun.push(begunRow(visit));
    else changed.push(changedRow(visit));
  }
  return {
    held: [...epochs],
    begun,
    changed,
    recorded: events.map(eventRow),
    runs: [...runs.values()].map(runRow),
  };
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

function begunRow({ of, begun: { visit, at }, state }: BegunVisit): Row {
  const row: Cell[] = [
    of.runId,
    state.sortOrder,
    visit.visitUuid,
    visit.nodeId,
    visit.nodeType,
    visit.iterSeq,
    `{${visit.predecessors.join(',')}}`,
    visit.skippedBecause && `{${visit.skippedBecause.join(',')}}`,
    at,
  ];
  addState(row, of, state);
  return row;
}

function changedRow({ of, state }: CommittedVisit): Row {
  const row: Cell[] = [of.runId, state.sortOrder];
  addState(row, of, state);
  return row;
}

function addState(row: Cell[], of: PreparedEntry, state: VisitState): void {
  row.push(
    state.status,
    state.attempt,
    json(state.envelope),
    state.chosenHandle ?? null,
    state.errorCode ?? null,
    json(state.waiting),
    state.tokens,
    state.toolCalls,
    of.at,
  );
}

function eventRow({ of, seq, event }: CommittedEvent): Row {
  const { type, nodeId, visitUuid, iterSeq, logType, payload } = event;
  return [of.runId, seq, type, nodeId, visitUuid, iterSeq, logType, of.at, payload];
}

function runRow({ of, end, rest }: ChangedRun): Row {
  const { opening } = of;
  const goesOn = opening !== null && end === null && rest === null;
  return [
    of.runId,
    end ? end.status : opening && 'RUNNING',
    end && end.statusReason,
    end && json(end.error),
    end && json(end.errorDetail),
    end && json(end.outputs),
    end && of.at,
    opening && opening.startedAt.toISOString(),
    opening && of.epoch,
    goesOn ? opening.owner : null,
    goesOn ? opening.leaseSeconds : null,
    rest && rest.wakeAt.toISOString(),
    rest && rest.wakesSeen,
  ];
}

function json(value: unknown): string | null {
  return value === null || value === undefined ? null : JSON.stringify(value);
}
