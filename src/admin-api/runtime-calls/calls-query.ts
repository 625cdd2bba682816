import { z } from 'zod';
import { CALL_STATUSES } from '../../runtime-adapters/index.js';
import { listQuery } from '../lists/list-query.js';

/** Query of `GET /admin/v1/runtime-calls`. */
export const callsQuery = listQuery.extend({
  runId: z
    .string()
    .regex(/^[a-z0-9_-]{1,64}$/, 'must be a run id')
    .optional(),
  nodeId: z
    .string()
    .regex(/^[A-Za-z0-9_.-]{1,200}$/, 'must be a node id')
    .optional(),
  agentKey: z
    .string()
    .regex(/^[a-z0-9-]{1,64}$/, 'must be an agent key')
    .optional(),
  provider: z.enum(['hermes', 'new-api', 'dify', 'agentscope', 'isolated-writer']).optional(),
  status: z.enum(CALL_STATUSES).optional(),
});
