import { Body, Controller, Delete, Get, HttpCode, Param, Post, Query, UseGuards } from '@nestjs/common';
import type { z } from 'zod';
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
import { Describe } from '../../common/openapi/index.js';
import { workflowNameSchema } from '../../workflows/index.js';
import { AdminKeyGuard, ChangedBy, Roles } from '../auth/index.js';
import { adminList, type AdminList } from '../lists/admin-list.js';
import { decodeCursor, encodeCursor } from '../lists/cursor.js';
import {
  archiveAgent,
  createAgent,
  getAgent,
  listAgents,
  switchAgentVersion,
} from '../openapi/agent-operations.js';
import { agentsQuery, newAgentSchema, switchSchema } from './agent-requests.js';
import { agentView, type AgentView } from './agent-view.js';

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

  @Describe(createAgent)
  @Post()
  @Roles('editor')
  async create(
    @Body(new ZodPipe(newAgentSchema)) body: z.infer<typeof newAgentSchema>,
    @ChangedBy() by: RequestedBy,
  ): Promise<Envelope<AgentView>> {
    const { displayName = body.agentKey } = body;
    return ok(agentView(await this.createAgent.execute({ ...body, displayName }, by)));
  }

  @Describe(listAgents)
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

  @Describe(getAgent)
  @Get(':agentKey')
  @Roles('viewer', 'auditor')
  async show(@Param('agentKey') agentKey: string): Promise<Envelope<AgentSummary>> {
    const found = await this.listAgents.one(agentKey);
    if (!found) throw new AgentNotFoundError(agentKey);
    return ok(found);
  }

  @Describe(switchAgentVersion)
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

  @Describe(archiveAgent)
  @Delete(':agentKey')
  @Roles('publisher')
  async archive(
    @Param('agentKey') agentKey: string,
    @ChangedBy() by: RequestedBy,
  ): Promise<Envelope<AgentView>> {
    return ok(agentView(await this.archiveAgent.execute(agentKey, by)));
  }
}
