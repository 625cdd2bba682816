import { Injectable } from '@nestjs/common';
import { StartRun } from '../../engine/index.js';
import type { RunEntity } from '../../runs/run.entity.js';
import type { ApiKeyIdentity } from '../../api-keys/index.js';
import { WorkspaceExpiredError } from '../workspace/workspace-expired.error.js';

/** Starts a run for a caller, once. Throws RunAlreadyStartedError, WorkspaceExpiredError. */
@Injectable()
export class StartExternalRun {
  constructor(private readonly startRun: StartRun) {}

  async execute(_caller: ApiKeyIdentity, run: RunEntity): Promise<{ startedAt: Date }> {
    if (run.workspaceExpiredAt !== null && run.status === 'CREATED')
      throw new WorkspaceExpiredError(run.runId);
    return this.startRun.execute(run.runId);
  }
}
