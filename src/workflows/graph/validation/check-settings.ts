import { z } from 'zod';
import { missingIsRequired, zodFieldErrors } from '../../../common/errors/zod-field-errors.js';
import type { WorkflowMode } from '../graph-data.js';
import type { ProblemList } from './problem-list.js';

/** Thirty days. */
const MAX_RUN_SECONDS = 2_592_000;
const MAX_VISITS = 100_000;

const shared = {
  runTimeoutSeconds: z.number().positive().max(MAX_RUN_SECONDS).optional(),
  budget: z
    .strictObject({
      tokens: z.int().positive().optional(),
      toolCalls: z.int().positive().optional(),
    })
    .optional(),
  concurrency: z.int().min(1).max(256).optional(),
};

const dagSettings = z.strictObject(shared);

/** What AGENTIC workflows may set; DAG ones know the first three keys only. */
export const agenticSettings = z
  .strictObject({
    ...shared,
    goal: z.string().max(200_000).optional(),
    planner: z
      .strictObject({
        type: z.enum(['llm', 'edges']),
        model: z.string().min(1).max(200).optional(),
        scope: z.enum(['graph', 'edges']).optional(),
        maxParallel: z.int().min(1).max(256).optional(),
      })
      .optional(),
    maxVisits: z.int().min(1).max(MAX_VISITS).optional(),
    maxVisitsPerNode: z.int().min(1).max(MAX_VISITS).optional(),
  })
  .refine(({ planner, goal }) => planner?.type !== 'llm' || Boolean(goal?.trim()), {
    path: ['goal'],
    error: 'is required for the llm planner',
  });

/** Checks `settings` against its mode (contract.md, "Graph definition"); nothing and null are no settings. */
export function checkSettings(settings: unknown, mode: WorkflowMode, problems: ProblemList): void {
  const schema: z.ZodType = mode === 'AGENTIC' ? agenticSettings : dagSettings;
  const result = schema.safeParse(settings ?? {}, { error: missingIsRequired });
  if (result.success) return;
  for (const { field, message } of zodFieldErrors(result.error)) {
    const hint = mode === 'DAG' && Object.hasOwn(agenticSettings.shape, field) ? ' in DAG mode' : '';
    const place = field === '' ? 'settings' : `settings.${field}`;
    problems.add('INVALID_SETTINGS', `${place}: ${message}${hint}`, { field: place });
  }
}

/** Whether a planner may visit nodes that no edge leads to: then none of them is unreachable. */
export function plannerNamesAnyNode(settings: unknown): boolean {
  const result = agenticSettings.safeParse(settings ?? {});
  if (!result.success) return true;
  const { planner } = result.data;
  return planner?.type === 'llm' && planner.scope !== 'edges';
}
