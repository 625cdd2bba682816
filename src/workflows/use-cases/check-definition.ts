import { Injectable } from '@nestjs/common';
import type { GraphProblem } from '../graph/graph-data.js';
import { subWorkflowCalls, type SubWorkflowCall } from '../graph/sub-workflow-calls.js';
import { GraphInvalidError } from '../workflow-errors.js';
import type { WorkflowInput } from '../workflow-input.js';
import { WorkflowRepository } from '../workflow.repository.js';
import { ValidateWorkflow } from './validate-workflow.js';

/** Workflows looked at in search of a cycle; a family tree beyond that is refused at run time by its depth. */
const MAX_LOOKED_AT = 200;

/** Judges a definition that is to be saved. */
@Injectable()
export class CheckDefinition {
  constructor(
    private readonly repository: WorkflowRepository,
    private readonly validateWorkflow: ValidateWorkflow,
  ) {}

  /** Throws GraphInvalidError with every problem of the definition under that name. */
  async execute(
    { mode, graphData, settings }: Pick<WorkflowInput, 'mode' | 'graphData' | 'settings'>,
    name: string,
  ): Promise<void> {
    const problems = await this.validateWorkflow.execute({ mode, graphData, settings });
    if (problems.length === 0) problems.push(...(await this.#subWorkflowCycles(graphData, name)));
    if (problems.length > 0) throw new GraphInvalidError(problems);
  }

  /** Nodes that would, through however many workflows, call the workflow that holds them. */
  async #subWorkflowCycles(graphData: WorkflowInput['graphData'], name: string): Promise<GraphProblem[]> {
    const problems: GraphProblem[] = [];
    for (const call of subWorkflowCalls(graphData)) {
      const path = await this.#pathBack(call, name);
      if (!path) continue;
      const message = `node "${call.nodeId}" leads back to this workflow: ${[name, ...path].join(' → ')}`;
      const { nodeId } = call;
      problems.push({ nodeId, edgeId: null, field: 'workflowName', code: 'SUB_WORKFLOW_CYCLE', message });
    }
    return problems;
  }

  async #pathBack(call: SubWorkflowCall, name: string): Promise<string[] | null> {
    const seen = new Set<string>();
    const pending = [{ call, path: [call.workflowName] }];
    for (let next = pending.shift(); next && seen.size < MAX_LOOKED_AT; next = pending.shift()) {
      const { workflowName, version } = next.call;
      // An older version of the same workflow is what it was: only its current one changes now.
      if (workflowName === name && version === undefined) return next.path;
      const key = `${workflowName}@${version ?? ''}`;
      if (seen.has(key)) continue;
      seen.add(key);
      const current = await this.repository.findByNameOrId(workflowName);
      const called =
        current && version ? await this.repository.findVersion(current.workflowId, version) : current;
      // One that does not exist yet calls nobody.
      for (const further of called ? subWorkflowCalls(called.graphData) : []) {
        pending.push({ call: further, path: [...next.path, further.workflowName] });
      }
    }
    return null;
  }
}
