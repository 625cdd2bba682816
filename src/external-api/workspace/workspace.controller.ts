import { Controller, Get, Logger, Param, Res, UseGuards } from '@nestjs/common';
import type { Response } from 'express';
import type { ApiKeyIdentity } from '../../api-keys/index.js';
import { errorCode } from '../../common/errors/error-code.js';
import { Describe } from '../../common/openapi/index.js';
import { Workspaces } from '../../runs/workspaces/workspaces.js';
import { ApiKeyGuard } from '../http/api-key.guard.js';
import { Caller } from '../http/caller.js';
import { downloadWorkspace } from '../openapi/operations.js';
import { VisibleWorkflows } from '../workflows/visible-workflows.js';
import { attachment } from './attachment.js';
import { WorkspaceExpiredError } from './workspace-expired.error.js';
import { zipWorkspace } from './zip-workspace.js';

/** `GET …/workspace`: the run's files as a zip. */
@Controller('api/v1/workflows/:workflowName/runs/:runId/workspace')
@UseGuards(ApiKeyGuard)
export class WorkspaceController {
  readonly #log = new Logger(WorkspaceController.name);

  constructor(
    private readonly visible: VisibleWorkflows,
    private readonly workspaces: Workspaces,
  ) {}

  @Describe(downloadWorkspace)
  @Get()
  async download(
    @Caller() caller: ApiKeyIdentity,
    @Param('workflowName') workflowName: string,
    @Param('runId') runId: string,
    @Res() response: Response,
  ): Promise<void> {
    const { workflow, run } = await this.visible.findRun(caller, workflowName, runId);
    if (run.workspaceExpiredAt !== null) throw new WorkspaceExpiredError(runId);
    const files = await this.workspaces.listFiles(runId);
    if (response.destroyed) return;
    response.writeHead(200, {
      'Content-Type': 'application/zip',
      'Content-Disposition': attachment(
        `${workflow.displayName}-${runId}.zip`,
        `${workflow.name}-${runId}.zip`,
      ),
      'Cache-Control': 'no-store, no-transform',
      'X-Content-Type-Options': 'nosniff',
    });
    // HEAD asks for the headers alone.
    if (response.req.method === 'HEAD') {
      response.end();
      return;
    }
    try {
      await zipWorkspace(this.workspaces.directory(runId), files, response);
    } catch (error) {
      // The answer has begun: the client sees it cut off, and that is all that can be told.
      if (errorCode(error) !== 'ERR_STREAM_PREMATURE_CLOSE')
        this.#log.error(`the zip of run ${runId} was not finished: ${String(error)}`);
      response.destroy();
    }
  }
}
