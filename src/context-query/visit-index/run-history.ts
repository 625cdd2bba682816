import type { LogEntry } from '../../events/log-entry.js';
import type { VisitNode } from '../paths/visit-node.js';

/** A run as the database has it: what an index needs to go on from there. */
export interface RunHistory {
  /** Events up to this number are in it. */
  readonly lastSeq: number;
  /** It has ended, or is no longer known: nothing more will come that says so. */
  readonly finished: boolean;
  /** By `sortOrder`. */
  readonly visits: readonly VisitNode[];
  /** JSON texts by visit; a visit that has ended and is missing here was too long. */
  readonly envelopes: ReadonlyMap<string, string>;
  /** In order, by visit; a visit missing here was too long. */
  readonly logs: ReadonlyMap<string, readonly LogEntry[]>;
}
