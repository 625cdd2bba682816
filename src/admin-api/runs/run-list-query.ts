import { z } from 'zod';
import { listQuery } from '../lists/list-query.js';

/** Query of `GET /admin/v1/runs`. */
export const runListQuery = listQuery.extend({
  /** Name or id. */
  workflow: z.string().min(1).max(64).optional(),
  status: z.enum(['CREATED', 'RUNNING', 'SUCCESS', 'FAILED']).optional(),
});
