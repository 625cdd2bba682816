import type { NodeType } from '../graph-data.js';
import { agentNode } from './agent.js';
import { codeNode } from './code.js';
import { conditionNode } from './condition.js';
import { delayNode } from './delay.js';
import { httpNode } from './http.js';
import { humanInputNode } from './human-input.js';
import { iterationNode } from './iteration.js';
import { knowledgeNode } from './knowledge.js';
import type { NodeTypeDefinition } from './node-type.js';
import { outputNode } from './output.js';
import { smartActionNode } from './smart-action.js';
import { subWorkflowNode } from './sub-workflow.js';
import { templateNode } from './template.js';
import { userInputNode } from './user-input.js';

/** Every node type there is. */
export const nodeTypes: Readonly<Record<NodeType, NodeTypeDefinition>> = {
  userInput: userInputNode,
  agent: agentNode,
  smartAction: smartActionNode,
  condition: conditionNode,
  template: templateNode,
  code: codeNode,
  http: httpNode,
  knowledge: knowledgeNode,
  iteration: iterationNode,
  subWorkflow: subWorkflowNode,
  humanInput: humanInputNode,
  delay: delayNode,
  output: outputNode,
};

export function isNodeType(type: unknown): type is NodeType {
  return typeof type === 'string' && Object.hasOwn(nodeTypes, type);
}
