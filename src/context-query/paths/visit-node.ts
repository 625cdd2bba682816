/** A visit without its content: what visibility and paths are made of. */
export interface VisitNode {
  readonly visitUuid: string;
  readonly nodeId: string;
  /** 1 for the node's first visit in the run. */
  readonly iterSeq: number;
  /** Order of beginning within the run. */
  readonly sortOrder: number;
  /** UUIDs of the visits it came from. */
  readonly predecessors: readonly string[];
  /** It has ended, well or badly. */
  readonly finished: boolean;
}

/** What a caller may see (decision 24): its visit's ancestors and the visit itself. */
export interface Lineage {
  /** By `sortOrder`; the caller's own visit is the last. */
  readonly visits: readonly VisitNode[];
  /** By node id, at least of each node among `visits`: `sortOrder` of its first visit in the run, visible or not. */
  readonly firstVisits: ReadonlyMap<string, number>;
}

export function bySortOrder(a: VisitNode, b: VisitNode): number {
  return a.sortOrder - b.sortOrder;
}
