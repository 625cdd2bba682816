import { z } from 'zod';
import {
  GRAPH_PROBLEM_CODES,
  graphDataSchema,
  workflowDocumentSchema,
  workflowInputSchema,
  workflowSettingsSchema,
  workflowUpdateSchema,
} from '../../workflows/index.js';
import { time } from './parameters.js';

/** Definitions as the OpenAPI document shows them; a test holds real answers against them. */

/** The controllers take any JSON for these, because `validateGraph` says more about what is wrong. */
const definition = { graphData: graphDataSchema, settings: workflowSettingsSchema.nullish() };

export const workflowInput = workflowInputSchema.extend(definition).meta({ id: 'WorkflowInput' });
export const workflowUpdate = workflowUpdateSchema.extend(definition).meta({ id: 'WorkflowUpdate' });
export const workflowDefinition = workflowInputSchema
  .pick({ mode: true })
  .extend(definition)
  .meta({ id: 'WorkflowDefinition' });
/** Import also takes an answer of the export as it came. */
export const importedDocument = workflowDocumentSchema.extend(definition).meta({ id: 'ImportedWorkflow' });

const summary = {
  id: z.int(),
  workflowId: z.int().describe('The same as `id`'),
  name: z.string(),
  displayName: z.string(),
  description: z.string(),
  version: z.int(),
  createdAt: time,
  updatedAt: time,
};
export const workflowSummary = z.strictObject(summary).meta({ id: 'WorkflowSummary' });

const mode = z.enum(['DAG', 'AGENTIC']);
const stored = { mode, graphData: graphDataSchema, settings: workflowSettingsSchema };
export const workflow = z.strictObject({ ...summary, ...stored }).meta({ id: 'Workflow' });

export const workflowDocument = z
  .strictObject({
    format: z.literal('agent-management/workflow'),
    formatVersion: z.literal(1),
    name: z.string(),
    displayName: z.string(),
    description: z.string(),
    ...stored,
  })
  .meta({ id: 'WorkflowDocument' });

export const workflowVersion = z
  .strictObject({ version: z.int(), mode, createdAt: time })
  .meta({ id: 'WorkflowVersion' });

export const verdict = z
  .strictObject({
    valid: z.boolean(),
    problems: z.array(
      z
        .strictObject({
          nodeId: z.string().nullable().describe('A node within an iteration is `{iteration}.{inner}`'),
          edgeId: z.string().nullable(),
          field: z.string().nullable().describe('A dotted path into the node’s data or into the settings'),
          code: z.enum(GRAPH_PROBLEM_CODES),
          message: z.string(),
        })
        .meta({ id: 'GraphProblem' }),
    ),
  })
  .meta({ id: 'Verdict' });
