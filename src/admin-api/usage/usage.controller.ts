import { Controller, Get, Query, UseGuards } from '@nestjs/common';
import { z } from 'zod';
import { ValidationError } from '../../common/errors/domain-error.js';
import { ok, ZodPipe, type Envelope } from '../../common/http/index.js';
import { ReadUsage, USAGE_GROUPS, type UsageGroup, type UsageRow } from '../../runtime-adapters/index.js';
import { workflowNameSchema } from '../../workflows/index.js';
import { AdminKeyGuard, Roles } from '../auth/index.js';
import { adminList, type AdminList } from '../lists/admin-list.js';
import { decodeCursor, encodeCursor } from '../lists/cursor.js';
import { listQuery } from '../lists/list-query.js';

const DAY_MILLIS = 86_400_000;
const DEFAULT_DAYS = 30;
const MOST_DAYS = 366;

/** A day, which begins at 00:00 UTC, or a moment. */
const time = z
  .union([z.iso.date(), z.iso.datetime({ offset: true })], { error: 'must be a date or a time in ISO 8601' })
  .transform((text) => new Date(text));

const usageQuery = listQuery.extend({
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

interface Usage extends AdminList<UsageRow> {
  from: string;
  to: string;
}

/** `/admin/v1/usage`: tokens, time and cost, rolled up. */
@Controller('admin/v1/usage')
@UseGuards(AdminKeyGuard)
@Roles('auditor')
export class UsageController {
  constructor(private readonly readUsage: ReadUsage) {}

  @Get()
  async list(@Query(new ZodPipe(usageQuery)) query: z.infer<typeof usageQuery>): Promise<Envelope<Usage>> {
    const { groupBy, agentKey, workflow, limit, cursor } = query;
    const to = query.to ?? new Date();
    const from = query.from ?? new Date(to.getTime() - DEFAULT_DAYS * DAY_MILLIS);
    checkSpan(from, to);
    const offset = cursor === undefined ? 0 : decodeCursor(z.int().min(1).max(1_000_000), cursor);
    const unique = USAGE_GROUPS.filter((group) => groupBy.includes(group));
    const found = await this.readUsage.execute({
      groupBy: unique,
      from,
      to,
      agentKey,
      workflowName: workflow,
      offset,
      limit: limit + 1,
    });
    const list = adminList(
      found,
      limit,
      (row) => row,
      () => encodeCursor(offset + limit),
    );
    return ok({ ...list, from: from.toISOString(), to: to.toISOString() });
  }
}

function checkSpan(from: Date, to: Date): void {
  if (from > to) throw ValidationError.ofFields([{ field: 'from', message: 'must not lie after `to`' }]);
  if (to.getTime() - from.getTime() > MOST_DAYS * DAY_MILLIS) {
    throw ValidationError.ofFields([
      { field: 'from', message: `must lie at most ${MOST_DAYS} days before \`to\`` },
    ]);
  }
}
