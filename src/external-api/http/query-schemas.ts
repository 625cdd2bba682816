import { z } from 'zod';

/** A query parameter in decimal digits between `min` and `max`. */
export function queryInteger(min: number, max: number): z.ZodType<number, string> {
  return z
    .string()
    .regex(/^\d{1,15}$/, 'must be an integer')
    .transform(Number)
    .refine((value) => value >= min && value <= max, `must be from ${min} to ${max}`)
    .meta({ openapi: { type: 'integer', minimum: min, maximum: max } });
}

/** Query of the list of runs. */
export const runListQuery = z.object({
  status: z.enum(['CREATED', 'RUNNING', 'SUCCESS', 'FAILED']).optional(),
  limit: queryInteger(1, 100).optional(),
  cursor: z.string().max(200).optional(),
});

/** Query of a node's log (decision 14). */
export const nodeLogQuery = z.object({
  type: z.enum(['THINKING', 'TOOL_CALL', 'TOOL_RESULT', 'TODO_UPDATE', 'INFO', 'ERROR']).optional(),
  visit: z.uuid().optional(),
  after: queryInteger(0, 2_147_483_647).optional(),
  limit: queryInteger(1, 10_000).optional(),
});
