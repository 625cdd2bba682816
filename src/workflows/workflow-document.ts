import { z } from 'zod';
import { workflowInputSchema, type WorkflowInput } from './workflow-input.js';
import type { WorkflowDefinition } from './workflow-definition.js';

const FORMAT = 'agent-management/workflow';

/** A workflow as a file: what export writes and import reads. Also takes a plain body of `POST /workflows`. */
export const workflowDocumentSchema = workflowInputSchema.extend({
  format: z.literal(FORMAT).optional(),
  formatVersion: z.literal(1).optional(),
});

export interface WorkflowDocument extends Required<WorkflowInput> {
  format: typeof FORMAT;
  formatVersion: 1;
}

/** Everything about a definition that another installation needs, and nothing that belongs to this one. */
export function workflowDocument(definition: WorkflowDefinition): WorkflowDocument {
  const { name, displayName, description, mode, graphData, settings } = definition;
  return { format: FORMAT, formatVersion: 1, name, displayName, description, mode, graphData, settings };
}

/** A saved answer of the export call is as good as the document in it. */
export function unwrapDocument(given: unknown): unknown {
  if (typeof given !== 'object' || given === null || !('code' in given) || !('data' in given)) return given;
  return given.code === 'OK' ? given.data : given;
}
