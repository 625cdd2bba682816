import { runLinks, type RunLinks } from './run-links.js';

/** `data` of a creation's answer (external-workflow-api.md, "创建运行"). */
export interface CreatedRun {
  runId: string;
  workflowId: number;
  workflowName: string;
  displayName: string;
  status: 'CREATED';
  createdAt: Date;
  links: RunLinks;
}

export function createdRun(
  workflow: { workflowId: number; name: string; displayName: string },
  { runId, createdAt }: { runId: string; createdAt: Date },
): CreatedRun {
  const { workflowId, name: workflowName, displayName } = workflow;
  const links = runLinks(workflowName, runId);
  return { runId, workflowId, workflowName, displayName, status: 'CREATED', createdAt, links };
}
