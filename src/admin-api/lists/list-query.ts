import { z } from 'zod';

/** `?cursor=&limit=` of every list of `/admin/v1`; 50 entries by default, at most 100. */
export const listQuery = z.object({
  cursor: z.string().max(500).optional(),
  limit: z
    .string()
    .regex(/^[1-9]\d{0,2}$/, 'must be an integer from 1 to 100')
    .transform(Number)
    .refine((limit) => limit <= 100, 'must be an integer from 1 to 100')
    .default(50)
    .meta({ openapi: { type: 'integer', minimum: 1, maximum: 100, default: 50 } }),
});
