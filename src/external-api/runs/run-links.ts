/** Paths of a run, relative to the server; always built with the workflow's name. */
export interface RunLinks {
  start: string;
  stream: string;
  result: string;
  workspace: string;
}

export function runPath(workflowName: string, runId: string): string {
  return `/api/v1/workflows/${workflowName}/runs/${runId}`;
}

export function runLinks(workflowName: string, runId: string): RunLinks {
  const result = runPath(workflowName, runId);
  return { start: `${result}/start`, stream: `${result}/stream`, result, workspace: `${result}/workspace` };
}

export function logsPath(workflowName: string, runId: string, nodeId: string): string {
  return `${runPath(workflowName, runId)}/nodes/${encodeURIComponent(nodeId)}/logs`;
}
