import { Controller, Get, Param, Query, UseGuards } from '@nestjs/common';
import { z } from 'zod';
import { ok, ZodPipe, type Envelope } from '../../common/http/index.js';
import { Describe } from '../../common/openapi/index.js';
import { RunNotFoundError } from '../../runs/run-errors.js';
import { RunRepository } from '../../runs/run.repository.js';
import { VisitRepository } from '../../runs/visit.repository.js';
import { WorkflowNotFoundError, WorkflowRepository } from '../../workflows/index.js';
import { AdminKeyGuard, Roles } from '../auth/index.js';
import { adminList, type AdminList } from '../lists/admin-list.js';
import { decodeCursor, encodeCursor } from '../lists/cursor.js';
import { getRun, listRuns } from '../openapi/operator-operations.js';
import { runListQuery } from './run-list-query.js';
import { runSummaryView, runView, type RunSummaryView, type RunView } from './run-view.js';

const RUN_ID = /^[a-z0-9_-]{1,64}$/;

const runCursor = z.tuple([z.int().min(0).max(8.64e15), z.string().regex(RUN_ID)]);

/** `/admin/v1/runs`: the runs of all workflows, for operators. */
@Controller('admin/v1/runs')
@UseGuards(AdminKeyGuard)
@Roles('viewer', 'auditor')
export class RunsController {
  constructor(
    private readonly runs: RunRepository,
    private readonly visits: VisitRepository,
    private readonly workflows: WorkflowRepository,
  ) {}

  /** Newest first. */
  @Describe(listRuns)
  @Get()
  async list(
    @Query(new ZodPipe(runListQuery)) query: z.infer<typeof runListQuery>,
  ): Promise<Envelope<AdminList<RunSummaryView>>> {
    const { status, limit } = query;
    const workflowId = query.workflow === undefined ? undefined : await this.#workflowId(query.workflow);
    const found = await this.runs.list({ workflowId, status, cursor: place(query.cursor), limit: limit + 1 });
    const names = await this.workflows.names(found.map((run) => run.workflowId));
    return ok(
      adminList(
        found,
        limit,
        (run) => runSummaryView(run, names.get(run.workflowId) ?? null),
        ({ createdAt, runId }) => encodeCursor([createdAt.getTime(), runId]),
      ),
    );
  }

  @Describe(getRun)
  @Get(':runId')
  async show(@Param('runId') runId: string): Promise<Envelope<RunView>> {
    // A text that no run id has (U+0000, say) never reaches the database.
    const run = RUN_ID.test(runId) ? await this.runs.find(runId) : null;
    if (!run) throw new RunNotFoundError(runId);
    const names = await this.workflows.names([run.workflowId]);
    return ok(runView(run, names.get(run.workflowId) ?? null, await this.visits.ofRun(runId)));
  }

  async #workflowId(nameOrId: string): Promise<number> {
    const row = await this.workflows.findRow(nameOrId);
    if (!row) throw new WorkflowNotFoundError(nameOrId);
    return Number(row.id);
  }
}

function place(cursor: string | undefined): { createdAt: Date; runId: string } | undefined {
  if (cursor === undefined) return undefined;
  const [createdAt, runId] = decodeCursor(runCursor, cursor);
  return { createdAt: new Date(createdAt), runId };
}
