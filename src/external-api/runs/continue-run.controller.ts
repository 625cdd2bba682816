import { Body, Controller, HttpCode, Param, Post, UseGuards } from '@nestjs/common';
import type { z } from 'zod';
import type { ApiKeyIdentity } from '../../api-keys/index.js';
import { ok, ZodPipe, type Envelope } from '../../common/http/index.js';
import { Describe } from '../../common/openapi/index.js';
import { AnswerHumanInput, CancelRun, RerunRun } from '../../engine/index.js';
import { ApiKeyGuard } from '../http/api-key.guard.js';
import { Caller } from '../http/caller.js';
import { isJsonObject, jsonObject } from '../http/json-object.js';
import { answerNode, cancelRun, rerunRun } from '../openapi/operations.js';
import { VisibleWorkflows } from '../workflows/visible-workflows.js';
import { WorkspaceExpiredError } from '../workspace/workspace-expired.error.js';
import { createdRun, type CreatedRun } from './created-run.js';
import { GetRunResult } from './get-run-result.js';
import { rerunRequest } from './rerun-request.js';
import type { RunResult } from './run-result.js';

/** `{values: {…}}`, the values by field name; also without the frame. */
export const nodeInputRequest = jsonObject.transform((body) =>
  isJsonObject(body.values)
    ? { values: body.values, fieldPrefix: 'values.' }
    : { values: body, fieldPrefix: '' },
);

/** What can be done to a run after its creation: cancel it, run it again, answer what it waits for. */
@Controller('api/v1/workflows/:workflowName/runs/:runId')
@UseGuards(ApiKeyGuard)
export class ContinueRunController {
  constructor(
    private readonly visible: VisibleWorkflows,
    private readonly result: GetRunResult,
    private readonly cancelRun: CancelRun,
    private readonly rerunRun: RerunRun,
    private readonly answerInput: AnswerHumanInput,
  ) {}

  @Describe(cancelRun)
  @Post('cancel')
  @HttpCode(200)
  async cancel(
    @Caller() caller: ApiKeyIdentity,
    @Param('workflowName') workflowName: string,
    @Param('runId') runId: string,
  ): Promise<Envelope<RunResult>> {
    const { workflow } = await this.visible.findRun(caller, workflowName, runId);
    const run = await this.cancelRun.execute(runId);
    return ok(await this.result.execute(workflow, run));
  }

  @Describe(rerunRun)
  @Post('rerun')
  async rerun(
    @Caller() caller: ApiKeyIdentity,
    @Param('workflowName') workflowName: string,
    @Param('runId') runId: string,
    @Body(new ZodPipe(rerunRequest.nullish())) request: z.infer<typeof rerunRequest> | null | undefined,
  ): Promise<Envelope<CreatedRun & { rerunOf: string }>> {
    const { run: original } = await this.visible.findRun(caller, workflowName, runId);
    if (original.workspaceExpiredAt !== null) throw new WorkspaceExpiredError(runId);
    const { run, workflow } = await this.rerunRun.execute({
      runId,
      fromNodeId: request?.fromNodeId ?? undefined,
      version: request?.version ?? undefined,
      apiKeyName: caller.name,
    });
    return ok({ ...createdRun(workflow, run), rerunOf: runId });
  }

  @Describe(answerNode)
  @Post('nodes/:nodeId/input')
  @HttpCode(200)
  async input(
    @Caller() caller: ApiKeyIdentity,
    @Param('workflowName') workflowName: string,
    @Param('runId') runId: string,
    @Param('nodeId') nodeId: string,
    @Body(new ZodPipe(nodeInputRequest)) { values, fieldPrefix }: z.infer<typeof nodeInputRequest>,
  ): Promise<Envelope<{ runId: string; nodeId: string; visitUuid: string }>> {
    await this.visible.findRun(caller, workflowName, runId);
    const { visitUuid } = await this.answerInput.execute(runId, nodeId, values, fieldPrefix);
    return ok({ runId, nodeId, visitUuid });
  }
}
