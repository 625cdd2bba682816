import { z } from 'zod';
import { USAGE_GROUPS, type UsageGroup } from '../../runtime-adapters/index.js';
import { workflowNameSchema } from '../../workflows/index.js';
import { listQuery } from '../lists/list-query.js';

/** A day, which begins at 00:00 UTC, or a moment. */
const time = z
  .union([z.iso.date(), z.iso.datetime({ offset: true })], { error: 'must be a date or a time in ISO 8601' })
  .transform((text) => new Date(text));

/** Query of `GET /admin/v1/usage`. */
export const usageQuery = listQuery.extend({
  /** `day,agent,workflow` by default; also `provider`. */
  groupBy: z
    .string()
    .transform((text) => text.split(','))
    .pipe(z.array(z.enum(USAGE_GROUPS)).min(1))
    .default(['day', 'agent', 'workflow'] satisfies UsageGroup[]),
  from: time.optional(),
  to: time.optional(),
  agentKey: z
    .string()
    .regex(/^[a-z0-9-]{1,64}$/, 'must be an agent key')
    .optional(),
  workflow: workflowNameSchema.optional(),
});
