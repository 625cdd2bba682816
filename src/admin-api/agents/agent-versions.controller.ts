import { Body, Controller, Get, HttpCode, Param, Post, Query, UseGuards } from '@nestjs/common';
import { z } from 'zod';
import {
  AgentRepository,
  CopyAgentVersion,
  CreateAgentVersion,
  OpenConsoleLink,
  PublishAgentVersion,
  type RequestedBy,
} from '../../agents/index.js';
import { ok, ZodPipe, type Envelope } from '../../common/http/index.js';
import { Describe } from '../../common/openapi/index.js';
import { AdminKeyGuard, ChangedBy, Roles } from '../auth/index.js';
import { adminList, type AdminList } from '../lists/admin-list.js';
import { decodeCursor, encodeCursor } from '../lists/cursor.js';
import { listQuery } from '../lists/list-query.js';
import {
  copyAgentVersion,
  createAgentVersion,
  getAgentVersion,
  getConsoleLink,
  listAgentVersions,
  publishAgentVersion,
} from '../openapi/agent-operations.js';
import { copySchema, newVersionSchema, publishSchema } from './agent-requests.js';
import { agentVersionView, type AgentVersionView } from './agent-view.js';
import { versionNumber } from './version-number.js';

const versionCursor = z.int().min(1);

/** `/admin/v1/agents/{agentKey}/versions`: drafts, their publication, the console they are configured in. */
@Controller('admin/v1/agents/:agentKey/versions')
@UseGuards(AdminKeyGuard)
export class AgentVersionsController {
  constructor(
    private readonly agents: AgentRepository,
    private readonly createVersion: CreateAgentVersion,
    private readonly copyVersion: CopyAgentVersion,
    private readonly publishVersion: PublishAgentVersion,
    private readonly openConsoleLink: OpenConsoleLink,
  ) {}

  @Describe(createAgentVersion)
  @Post()
  @Roles('editor')
  async create(
    @Param('agentKey') agentKey: string,
    @Body(new ZodPipe(newVersionSchema)) { config }: z.infer<typeof newVersionSchema>,
    @ChangedBy() by: RequestedBy,
  ): Promise<Envelope<AgentVersionView>> {
    return ok(agentVersionView(await this.createVersion.execute(agentKey, config, by)));
  }

  /** Newest first. */
  @Describe(listAgentVersions)
  @Get()
  @Roles('viewer', 'auditor')
  async list(
    @Param('agentKey') agentKey: string,
    @Query(new ZodPipe(listQuery)) { cursor, limit }: z.infer<typeof listQuery>,
  ): Promise<Envelope<AdminList<AgentVersionView>>> {
    await this.agents.find(agentKey);
    const before = cursor === undefined ? undefined : decodeCursor(versionCursor, cursor);
    const found = await this.agents.listVersions(agentKey, { before, limit: limit + 1 });
    return ok(adminList(found, limit, agentVersionView, ({ version }) => encodeCursor(version)));
  }

  @Describe(getAgentVersion)
  @Get(':version')
  @Roles('viewer', 'auditor')
  async show(
    @Param('agentKey') agentKey: string,
    @Param('version', new ZodPipe(versionNumber)) version: number,
  ): Promise<Envelope<AgentVersionView>> {
    await this.agents.find(agentKey);
    return ok(agentVersionView(await this.agents.findVersion(agentKey, version)));
  }

  @Describe(publishAgentVersion)
  @Post(':version/publish')
  @HttpCode(200)
  @Roles('publisher')
  async publish(
    @Param('agentKey') agentKey: string,
    @Param('version', new ZodPipe(versionNumber)) version: number,
    @Body(new ZodPipe(publishSchema)) { reason }: z.infer<typeof publishSchema>,
    @ChangedBy() by: RequestedBy,
  ): Promise<Envelope<AgentVersionView>> {
    return ok(agentVersionView(await this.publishVersion.execute(agentKey, version, reason, by)));
  }

  @Describe(copyAgentVersion)
  @Post(':version/copy')
  @Roles('editor')
  async copy(
    @Param('agentKey') agentKey: string,
    @Param('version', new ZodPipe(versionNumber)) version: number,
    @Body(new ZodPipe(copySchema)) body: z.infer<typeof copySchema>,
    @ChangedBy() by: RequestedBy,
  ): Promise<Envelope<AgentVersionView>> {
    return ok(agentVersionView(await this.copyVersion.execute(agentKey, version, body?.config, by)));
  }

  @Describe(getConsoleLink)
  @Get(':version/console-link')
  @Roles('viewer', 'auditor', 'editor')
  async consoleLink(
    @Param('agentKey') agentKey: string,
    @Param('version', new ZodPipe(versionNumber)) version: number,
    @ChangedBy() by: RequestedBy,
  ): Promise<Envelope<{ url: string }>> {
    return ok(await this.openConsoleLink.execute(agentKey, version, by));
  }
}
