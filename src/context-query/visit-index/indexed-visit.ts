import type { LogEntry } from '../../events/log-entry.js';
import type { VisitNode } from '../paths/visit-node.js';
import { ANSWERED_LOG_LIMITS, VisitLog } from './visit-log.js';

/** Rough size of a visit or a log entry beside its text. */
const VISIT_BYTES = 600;
const ENTRY_BYTES = 120;

/** A visit in memory. What is too long to be held is marked, so that the database answers for it. */
export class IndexedVisit implements VisitNode {
  readonly visitUuid: string;
  readonly nodeId: string;
  readonly iterSeq: number;
  readonly sortOrder: number;
  readonly predecessors: readonly string[];
  finished: boolean;
  #envelope: string | null = null;
  #envelopeInDatabase = false;
  #log: VisitLog | null;

  /** `maxTextBytes` bounds the log's text and the envelope's, each. */
  constructor(
    visit: VisitNode,
    private readonly maxTextBytes: number,
  ) {
    this.visitUuid = visit.visitUuid;
    this.nodeId = visit.nodeId;
    this.iterSeq = visit.iterSeq;
    this.sortOrder = visit.sortOrder;
    this.predecessors = visit.predecessors;
    this.finished = visit.finished;
    this.#log = new VisitLog({
      maxEntries: ANSWERED_LOG_LIMITS.maxEntries,
      maxBytes: Math.min(maxTextBytes, ANSWERED_LOG_LIMITS.maxBytes),
    });
  }

  /** JSON text; null before the visit has ended; undefined where the database must answer. */
  get envelope(): string | null | undefined {
    return this.#envelopeInDatabase ? undefined : this.#envelope;
  }

  /** Undefined where the database must answer. */
  get logs(): readonly LogEntry[] | undefined {
    return this.#log?.entries;
  }

  /** Estimate of the memory held. */
  get bytes(): number {
    const log = this.#log ? this.#log.bytes + this.#log.entries.length * ENTRY_BYTES : 0;
    return VISIT_BYTES + (this.#envelope?.length ?? 0) + log;
  }

  end(envelope: string): void {
    this.finished = true;
    this.#envelopeInDatabase = envelope.length > this.maxTextBytes;
    this.#envelope = this.#envelopeInDatabase ? null : envelope;
  }

  addLog(entry: LogEntry): void {
    this.#log?.append(entry);
    if (this.#log?.full) this.leaveLogsToDatabase();
  }

  leaveLogsToDatabase(): void {
    this.#log = null;
  }

  leaveEnvelopeToDatabase(): void {
    this.#envelope = null;
    this.#envelopeInDatabase = this.finished;
  }
}
