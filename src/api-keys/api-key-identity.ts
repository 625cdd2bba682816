/** Who calls `/api/v1`, and what the key may do. */
export interface ApiKeyIdentity {
  /** Unique among the usable keys; runs remember it. */
  readonly name: string;
  /** UUID of a key made through the admin API; null for one from the configuration. */
  readonly id: string | null;
  /** Workflows it may use, by name and by numeric id; both empty: all. */
  readonly workflowNames: readonly string[];
  readonly workflowIds: readonly number[];
  /** null: unlimited. */
  readonly requestsPerMinute: number | null;
  /** Counted at the start of a run; null: unlimited. */
  readonly maxConcurrentRuns: number | null;
}

/** Whether the key may see and run the workflow (external-workflow-api.md, "安全与集成注意事项"). */
export function mayUse(
  { workflowNames, workflowIds }: Pick<ApiKeyIdentity, 'workflowNames' | 'workflowIds'>,
  workflow: { readonly id: number | string; readonly name: string },
): boolean {
  if (workflowNames.length === 0 && workflowIds.length === 0) return true;
  return workflowNames.includes(workflow.name) || workflowIds.includes(Number(workflow.id));
}
