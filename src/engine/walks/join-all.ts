import type { WorkflowGraph } from '../../workflows/graph/workflow-graph.js';
import { backEdges } from './back-edges.js';

/** An edge that fired in the last superstep, with the visit behind it. */
export interface FiredEdge {
  source: string;
  target: string;
  visitUuid: string;
}

/** What a `join: all` node has got so far: by source, the visit behind its last fired edge. */
type Arrived = Map<string, string>;

/**
 * The next batch by edges alone. A node with several fired edges is visited once; a `join: all` node waits for its
 * forward edges, never for a back edge, and not for one that can no longer fire: when nothing that is about to
 * run leads to a missing source, the node goes on with what it has.
 */
export class JoinAll {
  readonly #forwardSources = new Map<string, ReadonlySet<string>>();
  readonly #arrived = new Map<string, Arrived>();

  constructor(private readonly graph: WorkflowGraph) {
    const joins = graph.nodes.filter(({ data }) => data.join === 'all');
    if (joins.length === 0) return;
    const back = backEdges(graph);
    for (const { id } of joins) {
      const forward = graph.incoming(id).filter((edge) => !back.has(edge));
      this.#forwardSources.set(id, new Set(forward.map(({ source }) => source)));
    }
  }

  next(fired: readonly FiredEdge[]): { nodeId: string; predecessors: string[] }[] {
    const batch = new Map<string, string[]>();
    for (const { source, target, visitUuid } of fired) {
      const forward = this.#forwardSources.get(target);
      if (forward?.has(source)) {
        const arrived = this.#arrived.get(target) ?? (new Map() as Arrived);
        this.#arrived.set(target, arrived.set(source, visitUuid));
        continue;
      }
      const predecessors = batch.get(target) ?? [];
      if (!predecessors.includes(visitUuid)) predecessors.push(visitUuid);
      batch.set(target, predecessors);
    }
    this.#releaseComplete(batch);
    this.#releaseStarved(batch);
    return [...batch].map(([nodeId, predecessors]) => ({ nodeId, predecessors }));
  }

  #releaseComplete(batch: Map<string, string[]>): void {
    for (const [nodeId, arrived] of this.#arrived) {
      if (arrived.size >= (this.#forwardSources.get(nodeId)?.size ?? 0)) this.#release(nodeId, batch);
    }
  }

  /** One after the other: a released join may be what another one waits for. */
  #releaseStarved(batch: Map<string, string[]>): void {
    for (const nodeId of [...this.#arrived.keys()]) {
      const others = [...this.#arrived.keys()].filter((other) => other !== nodeId);
      if (!this.#mayStillArrive(nodeId, [...batch.keys(), ...others])) this.#release(nodeId, batch);
    }
    // Joins that wait for each other in a circle would wait for ever.
    const [first] = this.#arrived.keys();
    if (batch.size === 0 && first) this.#release(first, batch);
  }

  #mayStillArrive(join: string, from: readonly string[]): boolean {
    const arrived = this.#arrived.get(join);
    const missing = new Set(
      [...(this.#forwardSources.get(join) ?? [])].filter((source) => !arrived?.has(source)),
    );
    const seen = new Set<string>([join]);
    const open = from.filter((nodeId) => nodeId !== join);
    for (let nodeId = open.pop(); nodeId !== undefined; nodeId = open.pop()) {
      if (seen.has(nodeId)) continue;
      seen.add(nodeId);
      if (missing.has(nodeId)) return true;
      for (const { target } of this.graph.outgoing(nodeId)) open.push(target);
    }
    return false;
  }

  #release(nodeId: string, batch: Map<string, string[]>): void {
    const visits = [...(this.#arrived.get(nodeId)?.values() ?? [])];
    batch.set(nodeId, [...new Set([...(batch.get(nodeId) ?? []), ...visits])]);
    this.#arrived.delete(nodeId);
  }
}
