import { z } from 'zod';
import type { BridgeEvent } from '../../bridge/protocol.js';
import { readAnswer } from '../../common/json/read-answer.js';
import { JsonTextError, MAX_ANSWER_DEPTH } from '../../common/json/read-json.js';
import { failureOf, RuntimeFault } from '../protocol/failure-classification.js';

const text = z.object({ text: z.string() });
const count = z
  .number()
  .nullish()
  .transform((value) => value ?? 0);
const callOf = { call_id: z.coerce.string(), tool: z.string() };
const json = z
  .unknown()
  .optional()
  .transform((value) => value ?? null);

/** The event's own levels come on top of what it carries. */
const MAX_DEPTH = MAX_ANSWER_DEPTH + 3;

/** Tolerant where a bridge in another language may differ: a missing optional field is its null. */
const SCHEMAS = {
  thinking: text,
  text,
  tool_call: z.object({ ...callOf, args: json }),
  tool_result: z.object({
    ...callOf,
    result: json,
    error: z
      .string()
      .nullish()
      .transform((value) => value ?? null),
  }),
  todo_update: z.object({ todos: z.array(z.unknown()) }),
  usage: z.object({ prompt_tokens: count, completion_tokens: count, total_tokens: count }),
  result: z.object({
    text: z
      .string()
      .nullish()
      .transform((value) => value ?? ''),
    // Not a record, which would be built anew, in another order of keys.
    data: z
      .custom<Record<string, unknown>>(isObject, 'must be an object')
      .nullish()
      .transform((value) => value ?? null),
    finish_reason: z.enum(['stop', 'length']).optional(),
  }),
  error: z.object({
    code: z.coerce.string().default('error'),
    message: z.string().default('the bridge gave no reason'),
    retryable: z.boolean().default(false),
  }),
} as const;

/**
 * One event of the bridge; numbers that would be changed keep their digits as texts (decision 4). Null for a name that the protocol does not have: a newer bridge may say more. Throws
 * RuntimeFault `provider_bad_response` when the payload is not what the name promises.
 */
export function readBridgeFrame(name: string | null, payload: string): BridgeEvent | null {
  if (name === null || !Object.hasOwn(SCHEMAS, name)) return null;
  const event = name as keyof typeof SCHEMAS;
  let data: unknown;
  try {
    data = readAnswer(payload, MAX_DEPTH);
  } catch (error) {
    if (!(error instanceof JsonTextError)) throw error;
    throw malformed(event, error.saidOf('it'));
  }
  if (data === undefined) throw malformed(event, 'it is not JSON');
  const parsed = SCHEMAS[event].safeParse(data);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw malformed(event, `${issue?.path.join('.') || 'its data'}: ${issue?.message ?? 'is wrong'}`);
  }
  return { event, data: parsed.data } as BridgeEvent;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function malformed(event: string, why: string): RuntimeFault {
  return new RuntimeFault(
    failureOf('provider_bad_response', `the bridge's event ${event} is malformed: ${why}`, {
      code: 'malformed_event',
    }),
  );
}
