import type { WorkflowDefinition, WorkflowSummary } from '../../workflows/index.js';

/** A workflow as the admin API shows it: `id` is `workflowId` under the name that the external list uses. */
export type WorkflowView = WorkflowDefinition & { readonly id: number };
export type WorkflowSummaryView = WorkflowSummary & { readonly id: number };

export function workflowView<T extends { readonly workflowId: number }>(
  workflow: T,
): T & { readonly id: number } {
  return { id: workflow.workflowId, ...workflow };
}
