import { z } from 'zod';
import { kebabName } from './graph/node-types/common-data.js';
import type { GraphData, WorkflowSettings } from './graph/graph-data.js';

/** By the specified pattern, also for names from the configuration and for agent keys. */
export const workflowNameSchema = kebabName;

/**
 * Body of `POST /admin/v1/workflows`: the shape; what the graph means is judged by `validateGraph`. Keys that it does
 * not know are dropped, so that what a GET answered can be sent back.
 */
export const workflowInputSchema = z.object({
  name: workflowNameSchema,
  /** Left out: the name. */
  displayName: z.string().max(200).optional(),
  description: z.string().max(10_000).optional(),
  mode: z.enum(['DAG', 'AGENTIC']),
  graphData: z.custom<GraphData>((value) => value !== undefined, 'is required'),
  settings: z.custom<WorkflowSettings>(() => true).nullish(),
});
export type WorkflowInput = z.infer<typeof workflowInputSchema>;

/** Body of `PUT /admin/v1/workflows/{nameOrId}`. */
export const workflowUpdateSchema = workflowInputSchema.extend({
  /** Left out: it keeps its name. */
  name: workflowNameSchema.optional(),
  /** Only if this is the current version; otherwise 409. */
  expectedVersion: z.int().min(1).optional(),
});
export type WorkflowUpdate = z.infer<typeof workflowUpdateSchema>;
