import { Controller, Get, HttpCode, Param, Post, Query, Req, Res, UseGuards } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { ApiKeyIdentity } from '../../api-keys/index.js';
import { ok, parseWith, type Envelope } from '../../common/http/index.js';
import { Describe } from '../../common/openapi/index.js';
import { RunRepository } from '../../runs/run.repository.js';
import { ApiKeyGuard } from '../http/api-key.guard.js';
import { Caller } from '../http/caller.js';
import { nodeLogQuery, runListQuery } from '../http/query-schemas.js';
import { ReadNodeLogs, type NodeLogPage } from '../logs/read-node-logs.js';
import { getNodeLogs, getRun, listRuns, startRun, streamRun } from '../openapi/operations.js';
import { readLastEventId } from '../stream/last-event-id.js';
import { StreamRunEvents } from '../stream/stream-run-events.js';
import { VisibleWorkflows } from '../workflows/visible-workflows.js';
import { GetRunResult } from './get-run-result.js';
import { runLinks, type RunLinks } from './run-links.js';
import { decodeCursor, runList, type RunList } from './run-list.js';
import type { RunResult } from './run-result.js';
import { StartExternalRun } from './start-external-run.js';

const DEFAULT_LIST_LIMIT = 20;
const MAX_LOG_ENTRIES = 10_000;

interface StartedRun {
  runId: string;
  status: 'RUNNING';
  startedAt: Date;
  links: RunLinks;
}

/** The runs of a workflow: list, start, stream, result, logs. */
@Controller('api/v1/workflows/:workflowName/runs')
@UseGuards(ApiKeyGuard)
export class RunsController {
  constructor(
    private readonly visible: VisibleWorkflows,
    private readonly runs: RunRepository,
    private readonly startRun: StartExternalRun,
    private readonly stream: StreamRunEvents,
    private readonly result: GetRunResult,
    private readonly nodeLogs: ReadNodeLogs,
  ) {}

  @Describe(listRuns)
  @Get()
  async list(
    @Caller() caller: ApiKeyIdentity,
    @Param('workflowName') workflowName: string,
    @Query() query: unknown,
  ): Promise<Envelope<RunList>> {
    const { status, limit = DEFAULT_LIST_LIMIT, cursor } = parseWith(runListQuery, query);
    const { workflowId } = await this.visible.find(caller, workflowName);
    const after = cursor === undefined ? undefined : decodeCursor(cursor);
    const runs = await this.runs.list({ workflowId, status, cursor: after, limit: limit + 1 });
    return ok(runList(runs, limit));
  }

  @Describe(startRun)
  @Post(':runId/start')
  @HttpCode(200)
  async start(
    @Caller() caller: ApiKeyIdentity,
    @Param('workflowName') workflowName: string,
    @Param('runId') runId: string,
  ): Promise<Envelope<StartedRun>> {
    const { workflow, run } = await this.visible.findRun(caller, workflowName, runId);
    const { startedAt } = await this.startRun.execute(caller, run);
    return ok({ runId, status: 'RUNNING', startedAt, links: runLinks(workflow.name, runId) });
  }

  @Describe(streamRun)
  @Get(':runId/stream')
  async events(
    @Caller() caller: ApiKeyIdentity,
    @Param('workflowName') workflowName: string,
    @Param('runId') runId: string,
    @Query() query: { lastEventId?: unknown },
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    const lastEventId = readLastEventId(request.headers['last-event-id'], query.lastEventId);
    await this.visible.findRun(caller, workflowName, runId);
    await this.stream.execute(runId, lastEventId, response);
  }

  @Describe(getRun)
  @Get(':runId')
  async show(
    @Caller() caller: ApiKeyIdentity,
    @Param('workflowName') workflowName: string,
    @Param('runId') runId: string,
  ): Promise<Envelope<RunResult>> {
    const { workflow, run } = await this.visible.findRun(caller, workflowName, runId);
    return ok(await this.result.execute(workflow, run));
  }

  @Describe(getNodeLogs)
  @Get(':runId/nodes/:nodeId/logs')
  async logs(
    @Caller() caller: ApiKeyIdentity,
    @Param('workflowName') workflowName: string,
    @Param('runId') runId: string,
    @Param('nodeId') nodeId: string,
    @Query() query: unknown,
  ): Promise<Envelope<NodeLogPage>> {
    const { type, visit, after = 0, limit = MAX_LOG_ENTRIES } = parseWith(nodeLogQuery, query);
    const { run } = await this.visible.findRun(caller, workflowName, runId);
    return ok(await this.nodeLogs.execute(run, nodeId, { type, visit, after, limit }));
  }
}
