import { AncestorIndex } from './ancestor-index.js';
import type { GraphData, GraphEdge, GraphNode } from './graph-data.js';

const NO_EDGES: readonly GraphEdge[] = [];

/**
 * A graph made ready to walk. Look-ups cost O(1), building it O(nodes + edges), and nothing recurses. It also takes
 * graphs that are not valid: an edge to a node that does not exist is left out, of two nodes with one id the first
 * counts.
 */
export class WorkflowGraph {
  static readonly #known = new WeakMap<GraphData, WorkflowGraph>();

  /** The graph of a definition, which must not change afterwards; made once for each object. */
  static of(graphData: GraphData): WorkflowGraph {
    const known = WorkflowGraph.#known.get(graphData);
    if (known) return known;
    const graph = new WorkflowGraph(graphData);
    WorkflowGraph.#known.set(graphData, graph);
    return graph;
  }

  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
  readonly #nodes = new Map<string, GraphNode>();
  readonly #outgoing = new Map<string, GraphEdge[]>();
  readonly #incoming = new Map<string, GraphEdge[]>();
  #ancestors: AncestorIndex | null = null;

  private constructor({ nodes, edges }: GraphData) {
    for (const node of nodes) {
      if (!this.#nodes.has(node.id)) this.#nodes.set(node.id, node);
    }
    this.nodes = [...this.#nodes.values()];
    this.edges = edges
      .filter(({ source, target }) => this.#nodes.has(source) && this.#nodes.has(target))
      .map((edge) => ('sourceHandle' in edge ? edge : { ...(edge as GraphEdge), sourceHandle: null }));
    for (const edge of this.edges) {
      append(this.#outgoing, edge.source, edge);
      append(this.#incoming, edge.target, edge);
    }
  }

  node(id: string): GraphNode | undefined {
    return this.#nodes.get(id);
  }

  /** In the order of the definition. */
  outgoing(id: string): readonly GraphEdge[] {
    return this.#outgoing.get(id) ?? NO_EDGES;
  }

  /** In the order of the definition. */
  incoming(id: string): readonly GraphEdge[] {
    return this.#incoming.get(id) ?? NO_EDGES;
  }

  /** Every node from which a path leads to the node: in a cycle that is the node itself too. */
  ancestors(id: string): ReadonlySet<string> {
    return this.#index().of(id);
  }

  /** Whether a path leads from `a` to `b`. */
  isAncestor(a: string, b: string): boolean {
    return this.#index().of(b).has(a);
  }

  /** Nodes of each strongly connected part that has a cycle, in the order of the definition. */
  get cyclicParts(): readonly (readonly string[])[] {
    return this.#index().cyclicParts;
  }

  /** Every node that can be reached from the given ones, themselves included. */
  reachableFrom(ids: readonly string[]): ReadonlySet<string> {
    const reached = new Set(ids.filter((id) => this.#nodes.has(id)));
    // A set that grows while it is gone through is gone through to its end.
    for (const id of reached) {
      for (const { target } of this.outgoing(id)) reached.add(target);
    }
    return reached;
  }

  #index(): AncestorIndex {
    this.#ancestors ??= new AncestorIndex(
      this.nodes.map(({ id }) => id),
      this.edges,
    );
    return this.#ancestors;
  }
}

function append(lists: Map<string, GraphEdge[]>, id: string, edge: GraphEdge): void {
  const list = lists.get(id);
  if (list) list.push(edge);
  else lists.set(id, [edge]);
}
