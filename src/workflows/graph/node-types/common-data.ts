import { z } from 'zod';
import type { JsonValue } from '../../../common/json/json-value.js';
import { MAX_TEMPLATE_LENGTH } from '../../templates/template-engine.js';

/** A day: nothing within a visit takes longer. */
const MAX_SECONDS = 86_400;

/** Keys that every node may have (contract.md, "All nodes"). */
export const commonShape = {
  label: z.string().max(200).optional(),
  description: z.string().max(2_000).optional(),
  failStrategy: z.enum(['abort', 'skip']).optional(),
  timeoutSeconds: z.number().positive().max(MAX_SECONDS).optional(),
  retry: z
    .strictObject({
      maxAttempts: z.int().min(1).max(20),
      backoffSeconds: z.number().min(0).max(3_600).optional(),
      maxBackoffSeconds: z.number().min(0).max(MAX_SECONDS).optional(),
    })
    .optional(),
  join: z.enum(['any', 'all']).optional(),
};

/** A text with references: LiquidJS. Its syntax is checked apart from its schema. */
export const templateText = z.string().max(MAX_TEMPLATE_LENGTH);

/** Any JSON value, but not nothing. Its depth was checked before. */
export const jsonValue = z.custom<JsonValue>((value) => value !== undefined, 'is required');

/** Kebab-case (external-workflow-api.md, "工作流标识"); agent and slot keys follow it too. */
export const kebabName = z
  .string()
  .max(64)
  .regex(/^[a-z0-9]+(-[a-z0-9]+)*$/, 'must be kebab-case: a-z, 0-9 and single hyphens between them');

/** Every string in a JSON value, as a template with its place. */
export function templatesIn(field: string, value: unknown): { field: string; text: string }[] {
  if (typeof value === 'string') return [{ field, text: value }];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, one]) => templatesIn(`${field}.${key}`, one));
}
