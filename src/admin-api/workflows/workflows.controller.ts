import { Body, Controller, Delete, Get, HttpCode, Param, Post, Put, Query, UseGuards } from '@nestjs/common';
import { z } from 'zod';
import { ok, ZodPipe, type Envelope } from '../../common/http/index.js';
import { Describe } from '../../common/openapi/index.js';
import {
  CreateWorkflow,
  DeleteWorkflow,
  ListWorkflows,
  UpdateWorkflow,
  WorkflowNotFoundError,
  WorkflowRepository,
  ValidateWorkflow,
  workflowInputSchema,
  workflowUpdateSchema,
  type ChangedBy as Change,
  type GraphProblem,
  type VersionSummary,
  type WorkflowInput,
  type WorkflowUpdate,
} from '../../workflows/index.js';
import { AdminKeyGuard, ChangedBy, Roles } from '../auth/index.js';
import { adminList, type AdminList } from '../lists/admin-list.js';
import { decodeCursor, encodeCursor } from '../lists/cursor.js';
import { listQuery } from '../lists/list-query.js';
import {
  createWorkflow,
  deleteWorkflow,
  getWorkflow,
  getWorkflowVersion,
  listWorkflowVersions,
  listWorkflows,
  updateWorkflow,
  validateWorkflow,
} from '../openapi/workflow-operations.js';
import { validateSchema } from './workflow-requests.js';
import { workflowView, type WorkflowSummaryView, type WorkflowView } from './workflow-view.js';

const idCursor = z.string().regex(/^\d{1,19}$/);
const versionCursor = z.int().min(1);
const versionNumber = z
  .string()
  .regex(/^[1-9]\d{0,9}$/, 'must be a version number')
  .transform(Number);

/** `/admin/v1/workflows`: definitions and their versions (contract.md, "Endpoints"). */
@Controller('admin/v1/workflows')
@UseGuards(AdminKeyGuard)
export class WorkflowsController {
  constructor(
    private readonly workflows: WorkflowRepository,
    private readonly createWorkflow: CreateWorkflow,
    private readonly updateWorkflow: UpdateWorkflow,
    private readonly deleteWorkflow: DeleteWorkflow,
    private readonly listWorkflows: ListWorkflows,
    private readonly validateWorkflow: ValidateWorkflow,
  ) {}

  @Describe(createWorkflow)
  @Post()
  @Roles('editor')
  async create(
    @Body(new ZodPipe(workflowInputSchema)) body: WorkflowInput,
    @ChangedBy() by: Change,
  ): Promise<Envelope<WorkflowView>> {
    return ok(workflowView(await this.createWorkflow.execute(body, by)));
  }

  @Describe(listWorkflows)
  @Get()
  @Roles('viewer', 'auditor')
  async list(
    @Query(new ZodPipe(listQuery)) { cursor, limit }: z.infer<typeof listQuery>,
  ): Promise<Envelope<AdminList<WorkflowSummaryView>>> {
    const before = cursor === undefined ? undefined : decodeCursor(idCursor, cursor);
    const { items, next } = await this.listWorkflows.execute({ before, limit });
    return ok({ items: items.map(workflowView), nextCursor: next === null ? null : encodeCursor(next) });
  }

  @Describe(validateWorkflow)
  @Post('validate')
  @HttpCode(200)
  @Roles('viewer', 'auditor', 'editor')
  async validate(
    @Body(new ZodPipe(validateSchema)) body: z.infer<typeof validateSchema>,
  ): Promise<Envelope<{ valid: boolean; problems: GraphProblem[] }>> {
    const problems = await this.validateWorkflow.execute(body);
    return ok({ valid: problems.length === 0, problems });
  }

  @Describe(getWorkflow)
  @Get(':nameOrId')
  @Roles('viewer', 'auditor')
  async show(@Param('nameOrId') nameOrId: string): Promise<Envelope<WorkflowView>> {
    const found = await this.workflows.findByNameOrId(nameOrId);
    if (!found) throw new WorkflowNotFoundError(nameOrId);
    return ok(workflowView(found));
  }

  @Describe(updateWorkflow)
  @Put(':nameOrId')
  @Roles('editor')
  async update(
    @Param('nameOrId') nameOrId: string,
    @Body(new ZodPipe(workflowUpdateSchema)) body: WorkflowUpdate,
    @ChangedBy() by: Change,
  ): Promise<Envelope<WorkflowView>> {
    return ok(workflowView(await this.updateWorkflow.execute(nameOrId, body, by)));
  }

  @Describe(deleteWorkflow)
  @Delete(':nameOrId')
  @Roles('editor')
  async delete(
    @Param('nameOrId') nameOrId: string,
    @ChangedBy() by: Change,
  ): Promise<Envelope<{ id: number; name: string }>> {
    return ok(workflowView(await this.deleteWorkflow.execute(nameOrId, by)));
  }

  @Describe(listWorkflowVersions)
  @Get(':nameOrId/versions')
  @Roles('viewer', 'auditor')
  async versions(
    @Param('nameOrId') nameOrId: string,
    @Query(new ZodPipe(listQuery)) { cursor, limit }: z.infer<typeof listQuery>,
  ): Promise<Envelope<AdminList<VersionSummary>>> {
    const row = await this.workflows.findRow(nameOrId);
    if (!row) throw new WorkflowNotFoundError(nameOrId);
    const before = cursor === undefined ? undefined : decodeCursor(versionCursor, cursor);
    const found = await this.workflows.listVersions(row.id, { before, limit: limit + 1 });
    return ok(
      adminList(
        found,
        limit,
        (one) => one,
        ({ version }) => encodeCursor(version),
      ),
    );
  }

  @Describe(getWorkflowVersion)
  @Get(':nameOrId/versions/:version')
  @Roles('viewer', 'auditor')
  async showVersion(
    @Param('nameOrId') nameOrId: string,
    @Param('version', new ZodPipe(versionNumber)) version: z.infer<typeof versionNumber>,
  ): Promise<Envelope<WorkflowView>> {
    const row = await this.workflows.findRow(nameOrId);
    const found = row && (await this.workflows.findVersion(row.id, version));
    if (!found) throw new WorkflowNotFoundError(nameOrId);
    return ok(workflowView(found));
  }
}
