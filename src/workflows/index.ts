export { completeFields } from './fields/field-values.js';
export { inputFields, outputFields, type OutputField } from './fields/graph-fields.js';
export { validateVariables } from './fields/validate-variables.js';
export type * from './graph/graph-data.js';
export { NODE_TYPES } from './graph/graph-data.js';
export { validateGraph } from './graph/validation/validate-graph.js';
export { WorkflowGraph } from './graph/workflow-graph.js';
export type { WorkflowDefinition } from './workflow-definition.js';
export {
  GraphInvalidError,
  WorkflowChangedError,
  WorkflowExistsError,
  WorkflowNotFoundError,
} from './workflow-errors.js';
export { WorkflowRepository, type VersionSummary } from './workflow.repository.js';
export { WorkflowsModule } from './workflows.module.js';
