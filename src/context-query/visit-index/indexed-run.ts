import { logTypeOf, toLogEntry } from '../../events/log-entry.js';
import type { RecordedRunEvent } from '../../events/run-event.js';
import { findLineage } from '../paths/find-lineage.js';
import type { Lineage, VisitNode } from '../paths/visit-node.js';
import { IndexedVisit } from './indexed-visit.js';
import type { RunHistory } from './run-history.js';

/** Rough size of a run beside its visits. */
const RUN_BYTES = 1_000;

export interface IndexedRunLimits {
  /** The oldest visits beyond are forgotten; the database answers for them. */
  readonly maxVisits: number;
  /** UTF-8 bytes of a visit's log, and of its envelope. */
  readonly maxTextBytes: number;
  /** Beyond, the text of the oldest visits is left to the database. */
  readonly maxRunBytes: number;
}

/** One run's visits in memory, brought up to date event by event. */
export class IndexedRun {
  /** Number of the newest event that is in it. */
  lastSeq = 0;
  finished = false;
  #bytes = RUN_BYTES;
  /** By UUID, in the order they began. */
  readonly #visits = new Map<string, IndexedVisit>();
  readonly #firstVisits = new Map<string, number>();

  constructor(
    readonly runId: string,
    private readonly limits: IndexedRunLimits,
  ) {}

  static fromHistory(runId: string, history: RunHistory, limits: IndexedRunLimits): IndexedRun {
    const run = new IndexedRun(runId, limits);
    run.lastSeq = history.lastSeq;
    run.finished = history.finished;
    for (const node of history.visits) {
      const visit = run.#begin(node);
      const logs = history.logs.get(node.visitUuid);
      if (logs) run.#change(visit, () => logs.forEach((entry) => visit.addLog(entry)));
      else visit.leaveLogsToDatabase();
      const envelope = history.envelopes.get(node.visitUuid);
      if (envelope !== undefined) run.#change(visit, () => visit.end(envelope));
      else if (node.finished) visit.leaveEnvelopeToDatabase();
    }
    return run;
  }

  /** Estimate of the memory held. */
  get bytes(): number {
    return this.#bytes;
  }

  visit(visitUuid: string): IndexedVisit | undefined {
    return this.#visits.get(visitUuid);
  }

  /** Null when one of the visits is not held. */
  lineage(visitUuid: string): Lineage | null {
    const { visits, complete } = findLineage(visitUuid, (uuid) => this.#visits.get(uuid));
    return complete ? { visits, firstVisits: this.#firstVisits } : null;
  }

  apply(recorded: RecordedRunEvent): void {
    this.lastSeq = recorded.seq;
    const { event } = recorded;
    switch (event.kind) {
      case 'visit-started':
        // A further attempt changes nothing: the visit keeps its place and its log, or was forgotten for its age.
        // Neither does what the run's history told already.
        if (event.attempt > 1 || this.#visits.has(event.visit.visitUuid)) return;
        this.#begin({
          visitUuid: event.visit.visitUuid,
          nodeId: event.visit.nodeId,
          iterSeq: event.visit.iterSeq,
          sortOrder: event.sortOrder,
          predecessors: event.predecessors,
          finished: false,
        });
        return;
      case 'visit-logged':
        this.#log(event.visit.visitUuid, recorded);
        return;
      case 'visit-ended': {
        this.#log(event.visit.visitUuid, recorded);
        const visit = this.#visits.get(event.visit.visitUuid);
        if (visit) this.#change(visit, () => visit.end(JSON.stringify(event.envelope)));
        return;
      }
      case 'run-finished':
        this.finished = true;
        return;
      case 'run-started':
      case 'visit-waiting':
      case 'node-skipped':
        // A skipped node was not visited: it is nobody's predecessor.
        return;
    }
  }

  #begin(node: VisitNode): IndexedVisit {
    const visit = new IndexedVisit(node, this.limits.maxTextBytes);
    this.#visits.set(visit.visitUuid, visit);
    this.#bytes += visit.bytes;
    if (!this.#firstVisits.has(visit.nodeId)) this.#firstVisits.set(visit.nodeId, visit.sortOrder);
    if (this.#visits.size > this.limits.maxVisits) this.#forgetOldest();
    return visit;
  }

  #forgetOldest(): void {
    for (const [visitUuid, visit] of this.#visits) {
      this.#visits.delete(visitUuid);
      this.#bytes -= visit.bytes;
      return;
    }
  }

  #log(visitUuid: string, recorded: RecordedRunEvent): void {
    const logType = logTypeOf(recorded.event);
    const visit = this.#visits.get(visitUuid);
    if (logType === null || !visit) return;
    this.#change(visit, () => visit.addLog(toLogEntry(logType, recorded.payload)));
  }

  #change(visit: IndexedVisit, change: () => void): void {
    const before = visit.bytes;
    change();
    // A visit that was forgotten meanwhile no longer counts.
    if (this.#visits.get(visit.visitUuid) !== visit) return;
    this.#bytes += visit.bytes - before;
    if (this.#bytes > this.limits.maxRunBytes) this.#shedText();
  }

  /** Down to three quarters, so that not every event sheds. */
  #shedText(): void {
    for (const visit of this.#visits.values()) {
      if (this.#bytes <= this.limits.maxRunBytes * 0.75) return;
      this.#bytes -= visit.bytes;
      visit.leaveLogsToDatabase();
      visit.leaveEnvelopeToDatabase();
      this.#bytes += visit.bytes;
    }
  }
}
