export {
  chooseCase,
  ELSE_HANDLE,
  evaluateCase,
  PatternError,
  type Condition,
  type ConditionCase,
} from './conditions/index.js';
export type { ChangedBy } from './audited-workflow.js';
export { completeFields } from './fields/field-values.js';
export { inputFields, outputFields, type OutputField } from './fields/graph-fields.js';
export { validateVariables } from './fields/validate-variables.js';
export type * from './graph/graph-data.js';
export { GRAPH_PROBLEM_CODES, NODE_TYPES } from './graph/graph-data.js';
export { graphDataSchema, workflowSettingsSchema } from './graph/graph-schema.js';
export { jsonSchemaProblems } from './graph/node-types/json-schema-problems.js';
export { toolNames } from './graph/node-types/tool-names.js';
export { subWorkflowCalls, type SubWorkflowCall } from './graph/sub-workflow-calls.js';
export { validateGraph } from './graph/validation/validate-graph.js';
export { WorkflowGraph } from './graph/workflow-graph.js';
export {
  asText,
  renderTemplate,
  renderTemplates,
  renderText,
  resolvePath,
  TemplateRenderError,
  templateReferences,
  TemplateSyntaxError,
  type TemplateScope,
} from './templates/index.js';
export { CheckDefinition } from './use-cases/check-definition.js';
export { CreateWorkflow } from './use-cases/create-workflow.js';
export { DeleteWorkflow } from './use-cases/delete-workflow.js';
export { ImportWorkflow, type ImportOptions } from './use-cases/import-workflow.js';
export { ListWorkflows, type Page, type WorkflowSummary } from './use-cases/list-workflows.js';
export { UpdateWorkflow } from './use-cases/update-workflow.js';
export { ValidateWorkflow } from './use-cases/validate-workflow.js';
export type { WorkflowDefinition } from './workflow-definition.js';
export {
  GraphInvalidError,
  WorkflowChangedError,
  WorkflowExistsError,
  WorkflowNotFoundError,
} from './workflow-errors.js';
export {
  unwrapDocument,
  workflowDocument,
  workflowDocumentSchema,
  type WorkflowDocument,
} from './workflow-document.js';
export {
  workflowInputSchema,
  workflowNameSchema,
  workflowUpdateSchema,
  type WorkflowInput,
  type WorkflowUpdate,
} from './workflow-input.js';
export { WorkflowRepository, type VersionSummary } from './workflow.repository.js';
export { WorkflowsModule } from './workflows.module.js';
