import { Controller, Param, Post, Req, Res, UseGuards } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { ApiKeyIdentity } from '../../api-keys/index.js';
import { ok } from '../../common/http/index.js';
import { Describe } from '../../common/openapi/index.js';
import { RunAlreadyStartedError } from '../../runs/run-errors.js';
import { RunRepository } from '../../runs/run.repository.js';
import { ApiKeyGuard } from '../http/api-key.guard.js';
import { Caller } from '../http/caller.js';
import { readIdempotencyKey } from '../idempotency/idempotency-keys.js';
import { createRun } from '../openapi/operations.js';
import { StreamRunEvents } from '../stream/stream-run-events.js';
import { VisibleWorkflows } from '../workflows/visible-workflows.js';
import { CreateExternalRun, type RunCreation } from './create-external-run.js';
import { ReadRunBody } from './read-run-body.js';
import { parseRunRequest } from './run-request.js';
import { StartExternalRun } from './start-external-run.js';

/** `POST …/runs`: JSON or multipart; `async: false` answers with the run's stream. */
@Controller('api/v1/workflows/:workflowName/runs')
@UseGuards(ApiKeyGuard)
export class CreateRunController {
  constructor(
    private readonly visible: VisibleWorkflows,
    private readonly readBody: ReadRunBody,
    private readonly createRun: CreateExternalRun,
    private readonly startRun: StartExternalRun,
    private readonly runs: RunRepository,
    private readonly stream: StreamRunEvents,
  ) {}

  @Describe(createRun)
  @Post()
  async create(
    @Caller() caller: ApiKeyIdentity,
    @Param('workflowName') workflowName: string,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    const workflow = await this.visible.find(caller, workflowName);
    const idempotencyKey = readIdempotencyKey(request.headers['idempotency-key']);
    const { creation, async } = await this.readBody.execute(request, async (body) => {
      const parsed = parseRunRequest(body.json);
      const made = await this.createRun.execute({ caller, workflow, request: parsed, body, idempotencyKey });
      return { creation: made, async: parsed.async };
    });
    const headers = {
      Location: creation.created.links.result,
      'X-Run-Id': creation.created.runId,
      ...(creation.replayed ? { 'Idempotency-Replayed': 'true' } : {}),
    };
    if (async) response.status(201).set(headers).json(ok(creation.created));
    else await this.#startAndStream(caller, creation, response, headers);
  }

  async #startAndStream(
    caller: ApiKeyIdentity,
    { created: { runId }, replayed }: RunCreation,
    response: Response,
    headers: Record<string, string>,
  ): Promise<void> {
    const run = await this.runs.find(runId);
    if (!run) throw new Error(`run ${runId} has vanished`);
    try {
      await this.startRun.execute(caller, run);
    } catch (error) {
      // A repeated request joins the run that the first one started.
      if (!replayed || !(error instanceof RunAlreadyStartedError)) throw error;
    }
    await this.stream.execute(runId, null, response, headers);
  }
}
