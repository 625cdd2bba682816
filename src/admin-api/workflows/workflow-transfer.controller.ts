import { Controller, Get, Param, Post, Query, Req, Res, UseGuards } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { z } from 'zod';
import { ok, parseWith, ZodPipe, type Envelope } from '../../common/http/index.js';
import { Describe } from '../../common/openapi/index.js';
import {
  ImportWorkflow,
  WorkflowNotFoundError,
  WorkflowRepository,
  unwrapDocument,
  workflowDocument,
  workflowDocumentSchema,
  type ChangedBy as Change,
  type WorkflowDocument,
} from '../../workflows/index.js';
import { AdminKeyGuard, ChangedBy, Roles } from '../auth/index.js';
import { exportWorkflow, importWorkflow } from '../openapi/workflow-operations.js';
import { ReceiveDocument } from './receive-document.js';
import { importQuery } from './workflow-requests.js';
import { workflowView, type WorkflowView } from './workflow-view.js';

/** Workflows out of an installation and into another. */
@Controller('admin/v1/workflows')
@UseGuards(AdminKeyGuard)
export class WorkflowTransferController {
  constructor(
    private readonly workflows: WorkflowRepository,
    private readonly importWorkflow: ImportWorkflow,
    private readonly receiveDocument: ReceiveDocument,
  ) {}

  @Describe(exportWorkflow)
  @Get(':nameOrId/export')
  @Roles('viewer', 'auditor')
  async export(@Param('nameOrId') nameOrId: string): Promise<Envelope<WorkflowDocument>> {
    const found = await this.workflows.findByNameOrId(nameOrId);
    if (!found) throw new WorkflowNotFoundError(nameOrId);
    return ok(workflowDocument(found));
  }

  /** Takes a document, or the whole answer of an export that has it as `data`. */
  @Describe(importWorkflow)
  @Post('import')
  @Roles('editor')
  async import(
    @Query(new ZodPipe(importQuery)) { name, overwrite }: z.infer<typeof importQuery>,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
    @ChangedBy() by: Change,
  ): Promise<Envelope<WorkflowView>> {
    const given = unwrapDocument(await this.receiveDocument.execute(request, response));
    const document = parseWith(workflowDocumentSchema, given);
    const imported = await this.importWorkflow.execute(
      document,
      { name, overwrite: overwrite === 'true' },
      by,
    );
    return ok(workflowView(imported));
  }
}
