import type { GraphProblem } from '../graph/graph-data.js';
import { subWorkflowCalls, type SubWorkflowCall } from '../graph/sub-workflow-calls.js';
import { validateGraph } from '../graph/validation/validate-graph.js';
import { GraphInvalidError } from '../workflow-errors.js';
import type { WorkflowInput } from '../workflow-input.js';
import type { WorkflowRepository } from '../workflow.repository.js';

/** Workflows looked at in search of a cycle; a family tree beyond that is refused at run time by its depth. */
const MAX_LOOKED_AT = 200;

/** Throws GraphInvalidError with every problem of a definition that is to be saved under the name. */
export async function checkDefinition(
  { mode, graphData, settings }: Pick<WorkflowInput, 'mode' | 'graphData' | 'settings'>,
  name: string,
  repository: Pick<WorkflowRepository, 'findByNameOrId' | 'findVersion'>,
): Promise<void> {
  const problems = validateGraph({ mode, graphData, settings });
  if (problems.length === 0) problems.push(...(await subWorkflowCycles(graphData, name, repository)));
  if (problems.length > 0) throw new GraphInvalidError(problems);
}

/** Nodes that would, through however many workflows, call the workflow that holds them. */
async function subWorkflowCycles(
  graphData: WorkflowInput['graphData'],
  name: string,
  repository: Pick<WorkflowRepository, 'findByNameOrId' | 'findVersion'>,
): Promise<GraphProblem[]> {
  const problems: GraphProblem[] = [];
  for (const call of subWorkflowCalls(graphData)) {
    const path = await pathBack(call, name, repository);
    if (!path) continue;
    const message = `node "${call.nodeId}" leads back to this workflow: ${[name, ...path].join(' → ')}`;
    problems.push({
      nodeId: call.nodeId,
      edgeId: null,
      field: 'workflowName',
      code: 'SUB_WORKFLOW_CYCLE',
      message,
    });
  }
  return problems;
}

async function pathBack(
  call: SubWorkflowCall,
  name: string,
  repository: Pick<WorkflowRepository, 'findByNameOrId' | 'findVersion'>,
): Promise<string[] | null> {
  const seen = new Set<string>();
  const pending = [{ call, path: [call.workflowName] }];
  for (let next = pending.shift(); next && seen.size < MAX_LOOKED_AT; next = pending.shift()) {
    const { workflowName, version } = next.call;
    // An older version of the same workflow is what it was: only its current one changes now.
    if (workflowName === name && version === undefined) return next.path;
    const key = `${workflowName}@${version ?? ''}`;
    if (seen.has(key)) continue;
    seen.add(key);
    const current = await repository.findByNameOrId(workflowName);
    const called = current && version ? await repository.findVersion(current.workflowId, version) : current;
    // One that does not exist yet calls nobody.
    for (const further of called ? subWorkflowCalls(called.graphData) : []) {
      pending.push({ call: further, path: [...next.path, further.workflowName] });
    }
  }
  return null;
}
