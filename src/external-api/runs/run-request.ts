import { z } from 'zod';
import { parseWith } from '../../common/http/index.js';
import { jsonObject } from '../http/json-object.js';

const DEFAULT_TTL_HOURS = 720;

/**
 * Body of a creation (external-workflow-api.md, "创建运行"). Keys it does not know are let be, and null counts as
 * absent: clients in other languages send null for what is not set.
 */
export const runRequestSchema = z.object({
  variables: jsonObject.nullish().transform((variables) => variables ?? {}),
  async: z
    .boolean()
    .nullish()
    .transform((async) => async ?? true),
  failStrategy: z
    .enum(['abort', 'skip'])
    .nullish()
    .transform((strategy) => strategy ?? null),
  ttlHours: z
    .number()
    .int()
    .min(1)
    .max(8760)
    .nullish()
    .transform((hours) => hours ?? DEFAULT_TTL_HOURS),
  callbackUrl: z
    .string()
    .min(1)
    .max(2048)
    .nullish()
    .transform((url) => url ?? null),
});

export type RunRequest = z.infer<typeof runRequestSchema>;

export function parseRunRequest(body: unknown): RunRequest {
  return parseWith(runRequestSchema, body);
}
