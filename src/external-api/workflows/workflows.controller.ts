import { Controller, Get, Param, UseGuards } from '@nestjs/common';
import { mayUse, type ApiKeyIdentity } from '../../api-keys/index.js';
import { ok, type Envelope } from '../../common/http/index.js';
import { Describe } from '../../common/openapi/index.js';
import { WorkflowRepository } from '../../workflows/index.js';
import { ApiKeyGuard } from '../http/api-key.guard.js';
import { Caller } from '../http/caller.js';
import { getWorkflow, listWorkflows } from '../openapi/operations.js';
import { VisibleWorkflows } from './visible-workflows.js';
import { workflowSummary, type WorkflowSummary } from './workflow-summary.js';

const PAGE = 200;

/** The workflows that a key may use. */
@Controller('api/v1/workflows')
@UseGuards(ApiKeyGuard)
export class WorkflowsController {
  constructor(
    private readonly workflows: WorkflowRepository,
    private readonly visible: VisibleWorkflows,
  ) {}

  /** All of them: parameters for pages and searching are accepted and have no effect yet, as specified. */
  @Describe(listWorkflows)
  @Get()
  async list(@Caller() caller: ApiKeyIdentity): Promise<Envelope<WorkflowSummary[]>> {
    const summaries: WorkflowSummary[] = [];
    let before: string | undefined;
    for (;;) {
      const page = await this.workflows.list({ before, limit: PAGE });
      for (const workflow of page) {
        if (mayUse(caller, { id: workflow.workflowId, name: workflow.name })) {
          summaries.push(workflowSummary(workflow));
        }
      }
      const last = page.at(-1);
      if (!last || page.length < PAGE) return ok(summaries);
      before = String(last.workflowId);
    }
  }

  @Describe(getWorkflow)
  @Get(':workflowName')
  async show(
    @Caller() caller: ApiKeyIdentity,
    @Param('workflowName') workflowName: string,
  ): Promise<Envelope<WorkflowSummary>> {
    return ok(workflowSummary(await this.visible.find(caller, workflowName)));
  }
}
