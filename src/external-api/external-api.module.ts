import { Module } from '@nestjs/common';
import { ApiKeysModule } from '../api-keys/index.js';
import { CredentialsModule } from '../credentials/index.js';
import { EngineModule } from '../engine/index.js';
import { LiveTail } from '../events/live-tail.js';
import { WorkflowsModule } from '../workflows/index.js';
import { CallbackOutbox } from './callbacks/callback-outbox.js';
import { CallbackPolicy } from './callbacks/callback-policy.js';
import { CallbackSender } from './callbacks/callback-sender.js';
import { SendCallback } from './callbacks/send-callback.js';
import { externalApiControllers } from './external-api-controllers.js';
import { Housekeeping } from './housekeeping/housekeeping.js';
import { IdempotencyKeys } from './idempotency/idempotency-keys.js';
import { RequestRate } from './limits/request-rate.js';
import { ReadNodeLogs } from './logs/read-node-logs.js';
import { CreateExternalRun } from './runs/create-external-run.js';
import { GetRunResult } from './runs/get-run-result.js';
import { ReadRunBody } from './runs/read-run-body.js';
import { StartExternalRun } from './runs/start-external-run.js';
import { liveTailProvider } from './stream/live-tail.provider.js';
import { StreamRunEvents } from './stream/stream-run-events.js';
import { VisibleWorkflows } from './workflows/visible-workflows.js';

/** What the API consists of, apart from the contexts it calls. */
export const externalApiParts = {
  controllers: externalApiControllers,
  providers: [
    CallbackOutbox,
    CallbackPolicy,
    CallbackSender,
    CreateExternalRun,
    GetRunResult,
    Housekeeping,
    IdempotencyKeys,
    ReadNodeLogs,
    ReadRunBody,
    RequestRate,
    SendCallback,
    StartExternalRun,
    StreamRunEvents,
    VisibleWorkflows,
    liveTailProvider,
  ],
};

/** `/api/v1`: what integrators call (external-workflow-api.md). */
@Module({
  imports: [ApiKeysModule, CredentialsModule, EngineModule, WorkflowsModule],
  ...externalApiParts,
  // Whoever hears of other processes' events announces them to it.
  exports: [LiveTail],
})
export class ExternalApiModule {}
