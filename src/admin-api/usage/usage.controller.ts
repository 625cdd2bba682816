import { Controller, Get, Query, UseGuards } from '@nestjs/common';
import { z } from 'zod';
import { ValidationError } from '../../common/errors/domain-error.js';
import { ok, ZodPipe, type Envelope } from '../../common/http/index.js';
import { Describe } from '../../common/openapi/index.js';
import { ReadUsage, USAGE_GROUPS, type UsageRow } from '../../runtime-adapters/index.js';
import { AdminKeyGuard, Roles } from '../auth/index.js';
import { adminList, type AdminList } from '../lists/admin-list.js';
import { decodeCursor, encodeCursor } from '../lists/cursor.js';
import { getUsage } from '../openapi/operator-operations.js';
import { usageQuery } from './usage-query.js';

const DAY_MILLIS = 86_400_000;
const DEFAULT_DAYS = 30;
const MOST_DAYS = 366;

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

  @Describe(getUsage)
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
