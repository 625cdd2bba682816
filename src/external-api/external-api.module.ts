import { Module } from '@nestjs/common';
import { ApiKeysModule } from '../api-keys/index.js';
import { EngineModule } from '../engine/index.js';
import { WorkflowsModule } from '../workflows/index.js';
import { IdempotencyKeys } from './idempotency/idempotency-keys.js';
import { ReadNodeLogs } from './logs/read-node-logs.js';
import { CreateExternalRun } from './runs/create-external-run.js';
import { CreateRunController } from './runs/create-run.controller.js';
import { GetRunResult } from './runs/get-run-result.js';
import { ReadRunBody } from './runs/read-run-body.js';
import { RunsController } from './runs/runs.controller.js';
import { StartExternalRun } from './runs/start-external-run.js';
import { StreamRunEvents } from './stream/stream-run-events.js';
import { VisibleWorkflows } from './workflows/visible-workflows.js';
import { WorkflowsController } from './workflows/workflows.controller.js';
import { WorkspaceController } from './workspace/workspace.controller.js';

/** `/api/v1`: what integrators call (external-workflow-api.md). */
@Module({
  imports: [ApiKeysModule, EngineModule, WorkflowsModule],
  controllers: [WorkflowsController, CreateRunController, RunsController, WorkspaceController],
  providers: [
    CreateExternalRun,
    GetRunResult,
    IdempotencyKeys,
    ReadNodeLogs,
    ReadRunBody,
    StartExternalRun,
    StreamRunEvents,
    VisibleWorkflows,
  ],
})
export class ExternalApiModule {}
