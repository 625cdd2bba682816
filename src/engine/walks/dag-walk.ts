import type { JsonObject } from '../../common/json/json-value.js';
import type { GraphEdge } from '../../workflows/graph/graph-data.js';
import type { WorkflowGraph } from '../../workflows/graph/workflow-graph.js';
import { isEdgeLive } from './edge-liveness.js';
import {
  outcomeWithoutOutput,
  type EndedVisit,
  type PlannedVisit,
  type SkippedNode,
  type Walk,
  type WalkNode,
  type WalkOutcome,
  type WalkStep,
} from './walk.js';

/** What is known of a node whose incoming edges are being decided. */
interface JoinState {
  /** Incoming edges not decided yet. */
  open: number;
  /** Visits behind its live edges. */
  live: string[];
  /** Nodes behind its dead edges. */
  dead: string[];
}

/**
 * Dataflow over an acyclic graph (decision 30): a node begins when all its incoming edges are decided and one at
 * least is live; with none live it is skipped, and its own edges are dead. No barriers, no recursion, and each
 * edge is decided once, so a whole run costs O(nodes + edges).
 */
export class DagWalk implements Walk {
  readonly #joins = new Map<string, JoinState>();
  readonly #decided = new Set<string>();
  readonly #outputs = new Map<string, JsonObject>();
  #firstFailure: EndedVisit | null = null;
  #ready: PlannedVisit[] = [];
  #skipped: SkippedNode[] = [];

  constructor(private readonly graph: WorkflowGraph) {
    for (const { id } of graph.nodes) {
      const open = graph.incoming(id).length;
      this.#joins.set(id, { open, live: [], dead: [] });
      if (open === 0) this.#ready.push({ nodeId: id, iterSeq: 1, predecessors: [] });
    }
  }

  advance(): WalkStep {
    const begin = this.#ready;
    const skip = this.#skipped;
    this.#ready = [];
    this.#skipped = [];
    for (const { nodeId } of begin) this.#decided.add(nodeId);
    for (const { nodeId } of skip) this.#decided.add(nodeId);
    return { begin, skip };
  }

  node(nodeId: string): WalkNode | undefined {
    return this.graph.node(nodeId);
  }

  ended(visit: EndedVisit): void {
    const node = this.graph.node(visit.nodeId);
    if (visit.status === 'failed') this.#firstFailure ??= visit;
    else if (node?.type === 'output') this.#outputs.set(visit.nodeId, visit.data ?? {});
    const dead: GraphEdge[] = [];
    for (const edge of this.graph.outgoing(visit.nodeId)) {
      if (isEdgeLive(edge, node, visit)) this.#decide(edge.target, visit.visitUuid, null, dead);
      else dead.push(edge);
    }
    this.#killEdges(dead);
  }

  outcome(): WalkOutcome {
    if (this.#outputs.size === 0) return outcomeWithoutOutput(this.#firstFailure);
    const outputs: JsonObject = {};
    for (const { id } of this.graph.nodes) Object.assign(outputs, this.#outputs.get(id));
    return { kind: 'success', outputs };
  }

  undecided(): string[] {
    return this.graph.nodes.filter(({ id }) => !this.#decided.has(id)).map(({ id }) => id);
  }

  /** Dead edges spread through the nodes they skip; a list instead of recursion, for deep graphs. */
  #killEdges(dead: GraphEdge[]): void {
    for (let edge = dead.pop(); edge; edge = dead.pop()) {
      this.#decide(edge.target, null, edge.source, dead);
    }
  }

  #decide(nodeId: string, live: string | null, dead: string | null, moreDead: GraphEdge[]): void {
    const join = this.#joins.get(nodeId);
    if (!join) return;
    join.open -= 1;
    if (live && !join.live.includes(live)) join.live.push(live);
    if (dead && !join.dead.includes(dead)) join.dead.push(dead);
    if (join.open > 0) return;
    if (join.live.length > 0) {
      this.#ready.push({ nodeId, iterSeq: 1, predecessors: join.live });
    } else {
      this.#skipped.push({ nodeId, because: join.dead });
      moreDead.push(...this.graph.outgoing(nodeId));
    }
  }
}
