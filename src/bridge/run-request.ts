import { isAbsolute } from 'node:path';
import { z } from 'zod';
import { JsonTextError, MAX_ANSWER_DEPTH, readJson } from '../common/json/read-json.js';
import type { BridgeRunRequest } from './protocol.js';

const MIB = 1024 ** 2;
/** Largest body of `POST /run`, in bytes. */
export const MAX_BODY_BYTES = 16 * MIB;

const id = z.string().min(1).max(200);

const contextQuery = z.strictObject({
  base_url: z.url().max(2048),
  token: z.string().min(8).max(512),
  run_id: id,
  visit_uuid: id,
});

const runRequest = z.strictObject({
  run_id: id,
  visit_uuid: id,
  node_id: id,
  model: id,
  instructions: z.string().max(2 * MIB),
  prompt: z.string().max(8 * MIB),
  tools: z.array(z.string().min(1).max(100)).max(64),
  workspace_dir: z
    .string()
    .max(4096)
    .refine((path) => isAbsolute(path) && !path.includes('\0'), 'must be an absolute path'),
  output_schema: z.record(z.string(), z.unknown()).nullable().default(null),
  timeout_seconds: z.number().positive().max(604_800),
  attempt: z.number().int().positive().optional(),
  plan_index: z.number().int().min(0).optional(),
  context_query: contextQuery.nullish().transform((value) => value ?? undefined),
});

export type ParsedRunRequest =
  | { readonly ok: true; readonly request: BridgeRunRequest }
  | { readonly ok: false; readonly message: string };

/** Checks a body of `POST /run`. The message names every wrong field and repeats no value: one is a token. */
export function parseRunRequest(body: string): ParsedRunRequest {
  let json: unknown;
  try {
    json = readJson(body, { maxDepth: MAX_ANSWER_DEPTH, unsafeNumbers: 'refuse' });
  } catch (error) {
    if (!(error instanceof JsonTextError)) throw error;
    return { ok: false, message: error.saidOf('the body') };
  }
  const parsed = runRequest.safeParse(json);
  if (parsed.success) return { ok: true, request: parsed.data };
  const problems = parsed.error.issues.slice(0, 20).map(({ path, message }) => {
    const field = path.join('.');
    return field ? `${field}: ${message}` : message;
  });
  return { ok: false, message: problems.join('; ') };
}
