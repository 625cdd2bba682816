import type { VisitIndex } from '../visit-index/visit-index.js';
import type { Lineage, VisitNode } from '../paths/visit-node.js';
import type { RecordedLogs, VisitRecords } from '../records/visit-records.js';

/** Injection token of the `VisitSource`. */
export const VISIT_SOURCE = Symbol('VisitSource');

/** Where the queries read visits. Memory and database answer the same, byte for byte (decision 29). */
export interface VisitSource {
  /** Null when the run has no such visit. */
  lineage(runId: string, visitUuid: string): Promise<Lineage | null>;
  /** JSON text; null before the visit has ended. */
  envelope(runId: string, visit: VisitNode): Promise<string | null>;
  logs(runId: string, visit: VisitNode): Promise<RecordedLogs>;
}

/** Asks the database only for what the index does not hold. */
export class MemoryFirstVisits implements VisitSource {
  constructor(
    private readonly index: VisitIndex,
    private readonly records: VisitRecords,
  ) {}

  async lineage(runId: string, visitUuid: string): Promise<Lineage | null> {
    return this.index.lineage(runId, visitUuid) ?? this.records.lineage(runId, visitUuid);
  }

  async envelope(runId: string, visit: VisitNode): Promise<string | null> {
    const held = this.index.envelope(runId, visit.visitUuid);
    return held === undefined ? this.records.envelope(runId, visit) : held;
  }

  async logs(runId: string, visit: VisitNode): Promise<RecordedLogs> {
    const entries = this.index.logs(runId, visit.visitUuid);
    return entries ? { entries, truncated: false } : this.records.logs(runId, visit);
  }
}
