import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { ApiKeyIdentity } from '../../api-keys/index.js';
import { newRunId } from '../../common/ids/run-id.js';
import { CreateRun } from '../../engine/index.js';
import { RunNotFoundError } from '../../runs/run-errors.js';
import { RunRepository } from '../../runs/run.repository.js';
import { Workspaces } from '../../runs/workspaces/workspaces.js';
import type { WorkflowDefinition } from '../../workflows/index.js';
import { CallbackPolicy } from '../callbacks/callback-policy.js';
import {
  IdempotencyKeys,
  IdempotencyKeyTaken,
  type IdempotencyScope,
} from '../idempotency/idempotency-keys.js';
import { requestHash } from '../idempotency/request-hash.js';
import { createdRun, type CreatedRun } from './created-run.js';
import type { RunBody } from './read-run-body.js';
import type { RunRequest } from './run-request.js';

export interface RunCreation {
  created: CreatedRun;
  /** True when an earlier request with the same Idempotency-Key made the run. */
  replayed: boolean;
}

export interface CreateExternalRunCommand {
  caller: ApiKeyIdentity;
  workflow: WorkflowDefinition;
  request: RunRequest;
  body: RunBody;
  idempotencyKey: string | null;
}

/**
 * Creates a run for a caller: the run, its files and its idempotency record come together or not at all. Throws
 * ValidationError and IdempotencyConflictError.
 */
@Injectable()
export class CreateExternalRun {
  constructor(
    private readonly createRun: CreateRun,
    private readonly runs: RunRepository,
    private readonly workspaces: Workspaces,
    private readonly idempotencyKeys: IdempotencyKeys,
    private readonly callbacks: CallbackPolicy,
  ) {}

  async execute(command: CreateExternalRunCommand): Promise<RunCreation> {
    const { caller, workflow, idempotencyKey, body } = command;
    if (idempotencyKey === null) return { created: await this.#create(command, null), replayed: false };
    const scope = { apiKeyName: caller.name, workflowId: workflow.workflowId, key: idempotencyKey };
    const hash = requestHash(body.json, body.files);
    const first = await this.#firstAnswer(scope, hash);
    if (first) return { created: first, replayed: true };
    try {
      return { created: await this.#create(command, { scope, hash }), replayed: false };
    } catch (error) {
      if (!(error instanceof IdempotencyKeyTaken)) throw error;
      const winner = await this.#firstAnswer(scope, hash);
      if (!winner) throw error;
      return { created: winner, replayed: true };
    }
  }

  async #create(
    { caller, workflow, request, body }: CreateExternalRunCommand,
    key: { scope: IdempotencyScope; hash: string } | null,
  ): Promise<CreatedRun> {
    if (request.callbackUrl !== null) await this.callbacks.check(request.callbackUrl);
    const runId = newRunId();
    const { staged } = body;
    const files = { adopted: false };
    const alsoInTransaction = async (manager: EntityManager): Promise<void> => {
      if (key) {
        const names = { workflowName: workflow.name, displayName: workflow.displayName };
        await this.idempotencyKeys.take(manager, key.scope, { requestHash: key.hash, runId, names });
      }
      // Last: from here on only the commit can fail.
      if (staged !== null) {
        await this.workspaces.adopt(runId, staged);
        files.adopted = true;
      }
    };
    try {
      const { createdAt } = await this.createRun.execute({
        runId,
        workflow,
        variables: request.variables,
        failStrategy: request.failStrategy,
        ttlHours: request.ttlHours,
        apiKeyName: caller.name,
        callbackUrl: request.callbackUrl,
        ...(key || staged !== null ? { alsoInTransaction } : {}),
      });
      return createdRun(workflow, { runId, createdAt });
    } catch (error) {
      // A commit whose answer was lost may have happened; then the files belong to the run. If that cannot be
      // asked either, the sweep of workspaces without a run decides later.
      if (files.adopted && (await this.runs.find(runId)) === null) await this.workspaces.remove(runId);
      throw error;
    }
  }

  async #firstAnswer(scope: IdempotencyScope, hash: string): Promise<CreatedRun | null> {
    const first = await this.idempotencyKeys.find(scope, hash);
    if (!first) return null;
    const run = await this.runs.find(first.runId);
    if (!run) throw new RunNotFoundError(first.runId);
    const { workflowName: name, displayName } = first.names;
    return createdRun({ workflowId: scope.workflowId, name, displayName }, run);
  }
}
