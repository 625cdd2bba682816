import type { JsonObject } from '../../common/json/json-value.js';
import type { WorkflowGraph } from '../../workflows/graph/workflow-graph.js';
import type { AgenticRules } from './agentic-rules.js';
import { isEdgeLive } from './edge-liveness.js';
import { JoinAll } from './join-all.js';
import { plannerNode, plannedNodes, summaryOf, type VisitSummary } from './planner-node.js';
import {
  outcomeWithoutOutput,
  type EndedVisit,
  type PlannedVisit,
  type Walk,
  type WalkNode,
  type WalkOutcome,
  type WalkStep,
} from './walk.js';

/**
 * Supersteps (decision 31): a batch of nodes runs in parallel; when all of it has ended the next batch is planned,
 * by the fired edges or by a model, until an output node succeeds, the planner says finish, or a cap is passed.
 */
export class AgenticWalk implements Walk {
  readonly #joins: JoinAll;
  readonly #visitsOf = new Map<string, number>();
  readonly #history: VisitSummary[] = [];
  #visits = 0;
  #asks = 0;
  /** Nodes of the running batch. */
  #batch: string[] = [];
  /** Those of them that have not ended. */
  #open = new Set<string>();
  #lastBatch: EndedVisit[] = [];
  #ended: EndedVisit[] = [];
  #planned: PlannedVisit[] = [];
  #firstFailure: EndedVisit | null = null;
  #over: WalkOutcome | null = null;

  constructor(
    private readonly graph: WorkflowGraph,
    private readonly rules: AgenticRules,
  ) {
    this.#joins = new JoinAll(graph);
    const inputs = graph.nodes.filter(({ type }) => type === 'userInput');
    this.#planBatch(inputs.map(({ id }) => ({ nodeId: id, predecessors: [] })));
  }

  advance(): WalkStep {
    const begin = this.#planned;
    this.#planned = [];
    return { begin, skip: [] };
  }

  node(nodeId: string): WalkNode | undefined {
    if (nodeId !== 'planner') return this.graph.node(nodeId);
    return plannerNode(this.graph, this.rules, {
      history: this.#history,
      along: new Set(this.#firedEdges().map(({ target }) => target)),
      asks: this.#asks,
      visitsLeft: this.rules.maxVisits - this.#visits,
    });
  }

  ended(visit: EndedVisit): void {
    this.#open.delete(visit.nodeId);
    if (visit.nodeId === 'planner') {
      this.#followPlan(visit);
      return;
    }
    this.#ended.push(visit);
    if (visit.status === 'failed') this.#firstFailure ??= visit;
    if (this.rules.planner === 'llm') {
      this.#history.push(summaryOf(visit, this.#visitsOf.get(visit.nodeId) ?? 1));
    }
    if (this.#open.size === 0) this.#endBatch();
  }

  outcome(): WalkOutcome {
    return this.#over ?? outcomeWithoutOutput(this.#firstFailure);
  }

  undecided(): string[] {
    return this.graph.nodes.filter(({ id }) => !this.#visitsOf.has(id)).map(({ id }) => id);
  }

  #endBatch(): void {
    // In the order in which they were planned, so that a replay, which ends them in another, decides the same.
    const ended = new Map(this.#ended.map((visit) => [visit.nodeId, visit]));
    this.#lastBatch = this.#batch.flatMap((nodeId) => ended.get(nodeId) ?? []);
    this.#ended = [];
    const outputs = this.#lastBatch.filter(
      ({ nodeId, status }) => status === 'succeeded' && this.graph.node(nodeId)?.type === 'output',
    );
    if (this.#over) return;
    if (outputs.length > 0) {
      const all: JsonObject = {};
      for (const { data } of outputs) Object.assign(all, data);
      this.#over = { kind: 'success', outputs: all };
    } else if (this.rules.planner === 'llm') {
      this.#open.add('planner');
      const predecessors = this.#lastBatch.map(({ visitUuid }) => visitUuid);
      this.#planned.push({ nodeId: 'planner', iterSeq: this.#nextVisit('planner'), predecessors });
    } else {
      this.#planBatch(this.#joins.next(this.#firedEdges()));
    }
  }

  #firedEdges(): { source: string; target: string; visitUuid: string }[] {
    return this.#lastBatch.flatMap((visit) => {
      const node = this.graph.node(visit.nodeId);
      return this.graph
        .outgoing(visit.nodeId)
        .filter((edge) => isEdgeLive(edge, node, visit))
        .map(({ source, target }) => ({ source, target, visitUuid: visit.visitUuid }));
    });
  }

  #followPlan(visit: EndedVisit): void {
    const plan = plannedNodes(visit.data);
    this.#asks += plan.asks;
    if (plan.finish || plan.next.length === 0) {
      this.#over = outcomeWithoutOutput(null);
      return;
    }
    this.#planBatch(plan.next.map((nodeId) => ({ nodeId, predecessors: this.#predecessorsOf(nodeId) })));
  }

  /** Visits of the last batch that have an edge to the node; where none has, all of the last batch. */
  #predecessorsOf(nodeId: string): string[] {
    const sources = new Set(this.graph.incoming(nodeId).map(({ source }) => source));
    const along = this.#lastBatch.filter((visit) => sources.has(visit.nodeId));
    return (along.length > 0 ? along : this.#lastBatch).map(({ visitUuid }) => visitUuid);
  }

  /** Begins what the caps allow; a node beyond them fails the run once the others have ended. */
  #planBatch(batch: readonly { nodeId: string; predecessors: string[] }[]): void {
    this.#batch = batch.map(({ nodeId }) => nodeId);
    for (const { nodeId, predecessors } of batch) {
      const excess = this.#excess(nodeId);
      if (excess) {
        const failure = { nodeId, visitUuid: null, error: excess };
        this.#over ??= { kind: 'failure', reason: 'MAX_VISITS', ...failure };
        continue;
      }
      this.#visits += 1;
      this.#open.add(nodeId);
      this.#planned.push({ nodeId, iterSeq: this.#nextVisit(nodeId), predecessors });
    }
  }

  #excess(nodeId: string): string | null {
    const { maxVisits, maxVisitsPerNode } = this.rules;
    if (this.#visits >= maxVisits) {
      return `node ${nodeId} would be visit ${this.#visits + 1} of the run, which may have ${maxVisits}`;
    }
    const visits = this.#visitsOf.get(nodeId) ?? 0;
    if (visits >= maxVisitsPerNode) {
      return `node ${nodeId} would be visited ${visits + 1} times, which may be visited ${maxVisitsPerNode} times`;
    }
    return null;
  }

  #nextVisit(nodeId: string): number {
    const iterSeq = (this.#visitsOf.get(nodeId) ?? 0) + 1;
    this.#visitsOf.set(nodeId, iterSeq);
    return iterSeq;
  }
}
