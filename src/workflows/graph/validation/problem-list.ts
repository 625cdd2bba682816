import type { GraphProblem, GraphProblemCode } from '../graph-data.js';

/** Of each code. More than anybody reads; a graph of nonsense must not become an answer of megabytes. */
const MAX_PROBLEMS = 500;

/** Gathers problems; ids of an iteration's inner graph get its prefix. */
export class ProblemList {
  constructor(
    private readonly found: GraphProblem[] = [],
    private readonly prefix = '',
    private readonly counts = new Map<GraphProblemCode, number>(),
  ) {}

  get all(): readonly GraphProblem[] {
    return this.found;
  }

  /** For the inner graph of a node of this graph. */
  within(nodeId: string): ProblemList {
    return new ProblemList(this.found, `${this.prefix}${nodeId}.`, this.counts);
  }

  add(
    code: GraphProblemCode,
    message: string,
    where: { nodeId?: string | null; edgeId?: string | null; field?: string | null } = {},
  ): void {
    const count = this.counts.get(code) ?? 0;
    if (count >= MAX_PROBLEMS) return;
    this.counts.set(code, count + 1);
    const { nodeId = null, edgeId = null, field = null } = where;
    // What concerns an inner graph as a whole concerns the node that holds it.
    const owner = this.prefix === '' ? null : this.prefix.slice(0, -1);
    this.found.push({
      nodeId: nodeId === null ? owner : this.prefix + nodeId,
      edgeId: edgeId === null ? null : this.prefix + edgeId,
      field,
      code,
      message,
    });
  }
}

/** A text of the caller in a message, cut where it gets long. */
export function quote(text: string): string {
  return JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}…` : text);
}
