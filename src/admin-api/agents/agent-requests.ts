import { z } from 'zod';
import { workflowNameSchema } from '../../workflows/index.js';
import { listQuery } from '../lists/list-query.js';

/** Bodies and queries of `/admin/v1/agents` and `/admin/v1/slots` (contract.md, "Bodies of the admin API"). */

const reason = z.string().trim().min(1, 'must not be empty').max(2_000);

export const newAgentSchema = z.strictObject({
  agentKey: workflowNameSchema,
  /** Left out: the key. */
  displayName: z.string().trim().min(1, 'must not be empty').max(200).optional(),
  description: z.string().max(10_000).default(''),
});

export const switchSchema = z.strictObject({
  version: z.int().min(1).max(999_999_999),
  reason: reason.optional(),
});

export const agentsQuery = listQuery.extend({ archived: z.enum(['true', 'false']).default('false') });

/** What a config says is checked by the use case, which names every problem. */
export const newVersionSchema = z.strictObject({
  config: z.custom<unknown>((value) => value !== undefined, 'is required'),
});

export const copySchema = z.strictObject({ config: z.unknown().optional() }).optional();

export const publishSchema = z.strictObject({ reason });

export const bindSchema = z.strictObject({ agentKey: workflowNameSchema });
