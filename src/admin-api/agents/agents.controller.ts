import { Body, Controller, Delete, Get, HttpCode, Param, Post, Query, UseGuards } from '@nestjs/common';
import { z } from 'zod';
import {
  AgentNotFoundError,
  ArchiveAgent,
  CreateAgent,
  ListAgents,
  SwitchCurrentVersion,
  type AgentSummary,
  type RequestedBy,
} from '../../agents/index.js';
import { ok, ZodPipe, type Envelope } from '../../common/http/index.js';
import { workflowNameSchema } from '../../workflows/index.js';
import { AdminKeyGuard, ChangedBy, Roles } from '../auth/index.js';
import { adminList, type AdminList } from '../lists/admin-list.js';
import { decodeCursor, encodeCursor } from '../lists/cursor.js';
import { listQuery } from '../lists/list-query.js';
import { agentView, type AgentView } from './agent-view.js';

const newAgentSchema = z.strictObject({
  agentKey: workflowNameSchema,
  /** Left out: the key. */
  displayName: z.string().trim().min(1, 'must not be empty').max(200).optional(),
  description: z.string().max(10_000).default(''),
});

const switchSchema = z.strictObject({
  version: z.int().min(1).max(999_999_999),
  reason: z.string().trim().min(1, 'must not be empty').max(2_000).optional(),
});

const agentsQuery = listQuery.extend({ archived: z.enum(['true', 'false']).default('false') });

/** `/admin/v1/agents`: system agents (agent-runtime-protocol.md §6; contract.md). */
@Controller('admin/v1/agents')
@UseGuards(AdminKeyGuard)
export class AgentsController {
  constructor(
    private readonly createAgent: CreateAgent,
    private readonly listAgents: ListAgents,
    private readonly switchCurrent: SwitchCurrentVersion,
    private readonly archiveAgent: ArchiveAgent,
  ) {}

  @Post()
  @Roles('editor')
  async create(
    @Body(new ZodPipe(newAgentSchema)) body: z.infer<typeof newAgentSchema>,
    @ChangedBy() by: RequestedBy,
  ): Promise<Envelope<AgentView>> {
    const { displayName = body.agentKey } = body;
    return ok(agentView(await this.createAgent.execute({ ...body, displayName }, by)));
  }

  @Get()
  @Roles('viewer', 'auditor')
  async list(
    @Query(new ZodPipe(agentsQuery)) { cursor, limit, archived }: z.infer<typeof agentsQuery>,
  ): Promise<Envelope<AdminList<AgentSummary>>> {
    const after = cursor === undefined ? undefined : decodeCursor(workflowNameSchema, cursor);
    const found = await this.listAgents.execute({ after, limit: limit + 1, archived: archived === 'true' });
    return ok(
      adminList(
        found,
        limit,
        (one) => one,
        ({ agentKey }) => encodeCursor(agentKey),
      ),
    );
  }

  @Get(':agentKey')
  @Roles('viewer', 'auditor')
  async show(@Param('agentKey') agentKey: string): Promise<Envelope<AgentSummary>> {
    const found = await this.listAgents.one(agentKey);
    if (!found) throw new AgentNotFoundError(agentKey);
    return ok(found);
  }

  @Post(':agentKey/current')
  @HttpCode(200)
  @Roles('publisher')
  async switchTo(
    @Param('agentKey') agentKey: string,
    @Body(new ZodPipe(switchSchema)) { version, reason }: z.infer<typeof switchSchema>,
    @ChangedBy() by: RequestedBy,
  ): Promise<Envelope<AgentView>> {
    return ok(agentView(await this.switchCurrent.execute(agentKey, version, reason ?? null, by)));
  }

  @Delete(':agentKey')
  @Roles('publisher')
  async archive(
    @Param('agentKey') agentKey: string,
    @ChangedBy() by: RequestedBy,
  ): Promise<Envelope<AgentView>> {
    return ok(agentView(await this.archiveAgent.execute(agentKey, by)));
  }
}
