import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { StartRun } from '../../engine/index.js';
import type { RunEntity } from '../../runs/run.entity.js';
import type { ApiKeyIdentity } from '../../api-keys/index.js';
import { admitRun } from '../limits/concurrent-runs.js';
import { WorkspaceExpiredError } from '../workspace/workspace-expired.error.js';

/** Starts a run for a caller, once. Throws RunAlreadyStartedError, WorkspaceExpiredError, RateLimitedError. */
@Injectable()
export class StartExternalRun {
  constructor(private readonly startRun: StartRun) {}

  async execute(caller: ApiKeyIdentity, run: RunEntity): Promise<{ startedAt: Date }> {
    if (run.workspaceExpiredAt !== null && run.status === 'CREATED')
      throw new WorkspaceExpiredError(run.runId);
    const admit =
      caller.maxConcurrentRuns === null ? undefined : (manager: EntityManager) => admitRun(manager, caller);
    return this.startRun.execute(run.runId, admit);
  }
}
