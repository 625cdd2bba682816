import { z } from 'zod';
import { queryParameters, type OperationDescription } from '../../common/openapi/index.js';
import { listQuery } from '../lists/list-query.js';
import { importQuery } from '../workflows/workflow-requests.js';
import {
  EVERY_ROUTE,
  jsonBody,
  nameOrId,
  PAGE_PARAMETERS,
  pageOf,
  version,
  WITH_BODY,
} from './parameters.js';
import {
  importedDocument,
  verdict,
  workflow,
  workflowDefinition,
  workflowDocument,
  workflowInput,
  workflowSummary,
  workflowUpdate,
  workflowVersion,
} from './workflow-schemas.js';

const tag = 'Workflows';
const page = queryParameters(listQuery.shape, PAGE_PARAMETERS);
const binary = z.string().meta({ openapi: { type: 'string', format: 'binary' } });

export const createWorkflow: OperationDescription = {
  operationId: 'createWorkflow',
  summary: 'Create a workflow',
  tag,
  body: jsonBody(workflowInput),
  answers: { 201: { description: 'Its first version', data: workflow } },
  errors: ['WORKFLOW_EXISTS', 'GRAPH_INVALID', ...WITH_BODY],
};

export const listWorkflows: OperationDescription = {
  operationId: 'listWorkflows',
  summary: 'List workflows, newest first, without their graphs',
  tag,
  parameters: page,
  answers: { 200: { description: 'A page', data: pageOf(workflowSummary) } },
  errors: EVERY_ROUTE,
};

export const validateWorkflow: OperationDescription = {
  operationId: 'validateWorkflow',
  summary: 'Find every problem of a definition without saving it',
  tag,
  body: jsonBody(workflowDefinition),
  answers: { 200: { description: 'Whether it could be saved, and what is wrong', data: verdict } },
  errors: WITH_BODY,
};

export const getWorkflow: OperationDescription = {
  operationId: 'getWorkflow',
  summary: 'Show the current version of a workflow',
  tag,
  parameters: [nameOrId],
  answers: { 200: { description: 'The workflow', data: workflow } },
  errors: ['WORKFLOW_NOT_FOUND', ...EVERY_ROUTE],
};

export const updateWorkflow: OperationDescription = {
  operationId: 'updateWorkflow',
  summary: 'Save a new version, which becomes the current one',
  description: 'With `expectedVersion` it is a CONFLICT when somebody was faster. Another `name` renames it.',
  tag,
  parameters: [nameOrId],
  body: jsonBody(workflowUpdate),
  answers: { 200: { description: 'The new version', data: workflow } },
  errors: ['WORKFLOW_NOT_FOUND', 'WORKFLOW_EXISTS', 'CONFLICT', 'GRAPH_INVALID', ...WITH_BODY],
};

export const deleteWorkflow: OperationDescription = {
  operationId: 'deleteWorkflow',
  summary: 'Delete a workflow; its runs go on and stay readable',
  tag,
  parameters: [nameOrId],
  answers: { 200: { description: 'Deleted', data: workflowSummary.pick({ id: true, name: true }).loose() } },
  errors: ['WORKFLOW_NOT_FOUND', ...EVERY_ROUTE],
};

export const listWorkflowVersions: OperationDescription = {
  operationId: 'listWorkflowVersions',
  summary: 'List the versions of a workflow, newest first',
  tag,
  parameters: [nameOrId, ...page],
  answers: { 200: { description: 'A page', data: pageOf(workflowVersion) } },
  errors: ['WORKFLOW_NOT_FOUND', ...EVERY_ROUTE],
};

export const getWorkflowVersion: OperationDescription = {
  operationId: 'getWorkflowVersion',
  summary: 'Show one version of a workflow',
  tag,
  parameters: [nameOrId, version],
  answers: { 200: { description: 'The version', data: workflow } },
  errors: ['WORKFLOW_NOT_FOUND', ...EVERY_ROUTE],
};

export const exportWorkflow: OperationDescription = {
  operationId: 'exportWorkflow',
  summary: 'A workflow as a document that another installation can import',
  tag,
  parameters: [nameOrId],
  answers: { 200: { description: 'The document', data: workflowDocument } },
  errors: ['WORKFLOW_NOT_FOUND', ...EVERY_ROUTE],
};

export const importWorkflow: OperationDescription = {
  operationId: 'importWorkflow',
  summary: 'Create a workflow from a document',
  description:
    'The document, or a saved answer of the export call, as the body or as the multipart part `file`.',
  tag,
  parameters: queryParameters(importQuery.shape, {
    name: 'Instead of the document’s own name',
    overwrite: '`true`: a workflow of that name gets a new version, instead of WORKFLOW_EXISTS',
  }),
  body: {
    required: true,
    content: {
      'application/json': importedDocument,
      'multipart/form-data': z.object({ file: binary }).meta({ id: 'WorkflowUpload' }),
    },
  },
  answers: { 201: { description: 'The workflow', data: workflow } },
  errors: ['WORKFLOW_EXISTS', 'GRAPH_INVALID', ...WITH_BODY],
};
