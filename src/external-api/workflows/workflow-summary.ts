import { inputFields, outputFields, type WorkflowDefinition } from '../../workflows/index.js';

/** A workflow as integrators see it. */
export interface WorkflowSummary {
  id: number;
  name: string;
  displayName: string;
  description: string;
  version: number;
  /** Fields of the `userInput` node. */
  inputs: ReturnType<typeof inputFields>;
  /** Fields of the `output` nodes. */
  outputs: ReturnType<typeof outputFields>;
}

export function workflowSummary(workflow: WorkflowDefinition): WorkflowSummary {
  return {
    id: workflow.workflowId,
    name: workflow.name,
    displayName: workflow.displayName,
    description: workflow.description,
    version: workflow.version,
    inputs: inputFields(workflow.graphData),
    outputs: outputFields(workflow.graphData),
  };
}
