import { Controller, Get, Param, Query, UseGuards } from '@nestjs/common';
import { z } from 'zod';
import { ok, ZodPipe, type Envelope } from '../../common/http/index.js';
import { Describe } from '../../common/openapi/index.js';
import { CallLedger, ListRuntimeCalls, RuntimeCallNotFoundError } from '../../runtime-adapters/index.js';
import { AdminKeyGuard, Roles } from '../auth/index.js';
import { adminList, type AdminList } from '../lists/admin-list.js';
import { decodeCursor, encodeCursor } from '../lists/cursor.js';
import { getRuntimeCall, listRuntimeCalls } from '../openapi/operator-operations.js';
import { callsQuery } from './calls-query.js';
import {
  runtimeCallDetail,
  runtimeCallView,
  type RuntimeCallDetail,
  type RuntimeCallView,
} from './runtime-call-view.js';

const COMMAND_ID = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,199}$/;

const place = z.tuple([z.int().min(0).max(8.64e15), z.string().regex(COMMAND_ID)]);

/** `/admin/v1/runtime-calls`: the ledger of what was sent to agent runtimes. */
@Controller('admin/v1/runtime-calls')
@UseGuards(AdminKeyGuard)
@Roles('auditor')
export class RuntimeCallsController {
  constructor(
    private readonly ledger: CallLedger,
    private readonly listCalls: ListRuntimeCalls,
  ) {}

  /** Newest first. */
  @Describe(listRuntimeCalls)
  @Get()
  async list(
    @Query(new ZodPipe(callsQuery)) query: z.infer<typeof callsQuery>,
  ): Promise<Envelope<AdminList<RuntimeCallView>>> {
    const { cursor, limit, ...filter } = query;
    const found = await this.listCalls.execute({ ...filter, before: placeOf(cursor) }, limit + 1);
    return ok(
      adminList(found, limit, runtimeCallView, ({ requestedAt, commandId }) =>
        encodeCursor([requestedAt.getTime(), commandId]),
      ),
    );
  }

  @Describe(getRuntimeCall)
  @Get(':commandId')
  async show(@Param('commandId') commandId: string): Promise<Envelope<RuntimeCallDetail>> {
    const call = COMMAND_ID.test(commandId) ? await this.ledger.find(commandId) : null;
    if (!call) throw new RuntimeCallNotFoundError(commandId);
    return ok(runtimeCallDetail(call));
  }
}

function placeOf(cursor: string | undefined): { requestedAt: Date; commandId: string } | undefined {
  if (cursor === undefined) return undefined;
  const [requestedAt, commandId] = decodeCursor(place, cursor);
  return { requestedAt: new Date(requestedAt), commandId };
}
