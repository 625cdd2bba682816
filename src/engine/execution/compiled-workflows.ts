import { WorkflowGraph } from '../../workflows/graph/workflow-graph.js';
import type { WorkflowDefinition } from '../../workflows/workflow-definition.js';
import type { WorkflowRepository } from '../../workflows/workflow.repository.js';
import type { WorkflowSettings } from '../../workflows/graph/graph-data.js';
import type { AgenticRules } from '../walks/agentic-rules.js';
import { AgenticWalk } from '../walks/agentic-walk.js';
import { DagWalk } from '../walks/dag-walk.js';
import type { Walk } from '../walks/walk.js';
import { reachable } from './reachable.js';

export interface CompiledWorkflow {
  workflow: WorkflowDefinition;
  graph: WorkflowGraph;
  newWalk(): Walk;
}

/** Versions kept; one is read once and never changes. */
const MAX_CACHED = 500;

/** Workflow versions with their graphs made ready to walk, kept while they are in use. */
export class CompiledWorkflows {
  readonly #cache = new Map<string, Promise<CompiledWorkflow>>();

  constructor(
    private readonly workflows: WorkflowRepository,
    /** See `engine.max-visits-per-run`. */
    private readonly maxVisitsPerRun: number,
  ) {}

  find(workflowId: string, version: number): Promise<CompiledWorkflow> {
    const key = `${workflowId}:${version}`;
    const cached = this.#cache.get(key) ?? this.#load(workflowId, version);
    // The least recently used one is the first of the map.
    this.#cache.delete(key);
    this.#cache.set(key, cached);
    cached.catch(() => this.#cache.delete(key));
    const [oldest] = this.#cache.keys();
    if (this.#cache.size > MAX_CACHED && oldest) this.#cache.delete(oldest);
    return cached;
  }

  async #load(workflowId: string, version: number): Promise<CompiledWorkflow> {
    const workflow = await reachable(this.workflows.findVersion(workflowId, version));
    if (!workflow) throw new Error(`workflow ${workflowId} has no version ${version}`);
    const graph = WorkflowGraph.of(workflow.graphData);
    if (workflow.mode === 'DAG') return { workflow, graph, newWalk: () => new DagWalk(graph) };
    const rules = agenticRules(workflow.settings, this.maxVisitsPerRun);
    return { workflow, graph, newWalk: () => new AgenticWalk(graph, rules) };
  }
}

/** Fills in what an AGENTIC workflow's settings leave open (contract.md, `settings`). */
export function agenticRules(settings: WorkflowSettings, maxVisitsPerRun: number): AgenticRules {
  const { planner, goal = '', maxVisits, maxVisitsPerNode } = settings;
  return {
    planner: planner?.type ?? 'edges',
    model: planner?.model ?? null,
    scope: planner?.scope ?? 'graph',
    maxParallel: planner?.maxParallel ?? Number.MAX_SAFE_INTEGER,
    goal,
    maxVisits: Math.min(maxVisits ?? Number.MAX_SAFE_INTEGER, maxVisitsPerRun),
    maxVisitsPerNode: maxVisitsPerNode ?? Number.MAX_SAFE_INTEGER,
  };
}
