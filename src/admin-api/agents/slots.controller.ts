import { Body, Controller, Get, Param, Put, Query, UseGuards } from '@nestjs/common';
import { z } from 'zod';
import { AgentRepository, BindSlot, type RequestedBy } from '../../agents/index.js';
import { ok, ZodPipe, type Envelope } from '../../common/http/index.js';
import { Describe } from '../../common/openapi/index.js';
import { AdminKeyGuard, ChangedBy, Roles } from '../auth/index.js';
import { adminList, type AdminList } from '../lists/admin-list.js';
import { decodeCursor, encodeCursor } from '../lists/cursor.js';
import { listQuery } from '../lists/list-query.js';
import { bindSlot, listSlots } from '../openapi/agent-operations.js';
import { bindSchema } from './agent-requests.js';
import { slotView, type SlotView } from './agent-view.js';

const slotCursor = z.string().regex(/^[A-Za-z0-9._-]{1,64}$/);

/** `/admin/v1/slots`: which agent a slot stands for. */
@Controller('admin/v1/slots')
@UseGuards(AdminKeyGuard)
export class SlotsController {
  constructor(
    private readonly agents: AgentRepository,
    private readonly bindSlot: BindSlot,
  ) {}

  @Describe(listSlots)
  @Get()
  @Roles('viewer', 'auditor')
  async list(
    @Query(new ZodPipe(listQuery)) { cursor, limit }: z.infer<typeof listQuery>,
  ): Promise<Envelope<AdminList<SlotView>>> {
    const after = cursor === undefined ? undefined : decodeCursor(slotCursor, cursor);
    const found = await this.agents.listSlots({ after, limit: limit + 1 });
    return ok(adminList(found, limit, slotView, ({ slotKey }) => encodeCursor(slotKey)));
  }

  @Describe(bindSlot)
  @Put(':slotKey')
  @Roles('publisher')
  async bind(
    @Param('slotKey') slotKey: string,
    @Body(new ZodPipe(bindSchema)) { agentKey }: z.infer<typeof bindSchema>,
    @ChangedBy() by: RequestedBy,
  ): Promise<Envelope<SlotView>> {
    return ok(slotView(await this.bindSlot.execute(slotKey, agentKey, by)));
  }
}
