/** Caps and planner of an AGENTIC workflow, with defaults filled in. */
export interface AgenticRules {
  planner: 'llm' | 'edges';
  model: string | null;
  scope: 'graph' | 'edges';
  maxParallel: number;
  goal: string;
  /** Visits that may be recorded; the next one fails the run. */
  maxVisits: number;
  maxVisitsPerNode: number;
}
