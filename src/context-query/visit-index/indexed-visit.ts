import type { LogEntry } from '../../events/log-entry.js';
import type { VisitNode } from '../paths/visit-node.js';
import { ANSWERED_LOG_LIMITS, VisitLog } from './visit-log.js';

/** Rough size of a visit or a log entry beside its text. */
const VISIT_BYTES = 600;
const ENTRY_BYTES = 120;
/** A text with one character beyond Latin-1 takes two bytes for each. */
const CHARACTER_BYTES = 2;

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
  /** Null once it is left to the database. After the visit's end a JSON text: one object instead of hundreds. */
  #log: VisitLog | string | null;

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
    this.#log = this.#emptyLog();
  }

  /** JSON text; null before the visit has ended; undefined where the database must answer. */
  get envelope(): string | null | undefined {
    return this.#envelopeInDatabase ? undefined : this.#envelope;
  }

  /** Undefined where the database must answer. */
  get logs(): readonly LogEntry[] | undefined {
    if (typeof this.#log === 'string') return JSON.parse(this.#log) as LogEntry[];
    return this.#log?.entries;
  }

  /** Estimate of the memory held. */
  get bytes(): number {
    return VISIT_BYTES + (this.#envelope?.length ?? 0) * CHARACTER_BYTES + this.#logBytes();
  }

  end(envelope: string): void {
    this.finished = true;
    this.#envelopeInDatabase = envelope.length > this.maxTextBytes;
    this.#envelope = this.#envelopeInDatabase ? null : envelope;
    if (this.#log instanceof VisitLog) this.#log = JSON.stringify(this.#log.entries);
  }

  addLog(entry: LogEntry): void {
    if (this.#log === null) return;
    const log = typeof this.#log === 'string' ? this.#reopened(this.#log) : this.#log;
    log.append(entry);
    this.#log = log.full ? null : log;
  }

  leaveLogsToDatabase(): void {
    this.#log = null;
  }

  leaveEnvelopeToDatabase(): void {
    this.#envelope = null;
    this.#envelopeInDatabase = this.finished;
  }

  #emptyLog(): VisitLog {
    const { maxEntries, maxBytes } = ANSWERED_LOG_LIMITS;
    return new VisitLog({ maxEntries, maxBytes: Math.min(this.maxTextBytes, maxBytes) });
  }

  #reopened(text: string): VisitLog {
    const log = this.#emptyLog();
    for (const entry of JSON.parse(text) as LogEntry[]) log.append(entry);
    return log;
  }

  #logBytes(): number {
    if (typeof this.#log === 'string') return this.#log.length * CHARACTER_BYTES;
    return this.#log ? this.#log.bytes + this.#log.entries.length * ENTRY_BYTES : 0;
  }
}
