import { z } from 'zod';
import { workflowInputSchema, workflowNameSchema } from '../../workflows/index.js';

/** Body of `POST /admin/v1/workflows/validate`. */
export const validateSchema = workflowInputSchema.pick({ mode: true, graphData: true, settings: true });

/** Query of `POST /admin/v1/workflows/import`. */
export const importQuery = z.object({
  /** Instead of the document's own name. */
  name: workflowNameSchema.optional(),
  /** A workflow of that name gets a new version; otherwise 409. */
  overwrite: z.enum(['true', 'false']).optional(),
});
