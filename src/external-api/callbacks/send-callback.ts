import { Injectable } from '@nestjs/common';
import { guardedFetch } from '../../common/net/index.js';
import type { RunEntity } from '../../runs/run.entity.js';
import { RunRepository } from '../../runs/run.repository.js';
import { WorkflowRepository } from '../../workflows/index.js';
import { GetRunResult } from '../runs/get-run-result.js';
import { CallbackPolicy } from './callback-policy.js';
import type { DueCallback } from './callback-outbox.js';
import { webhookHeaders } from './webhook-signature.js';

const TIMEOUT_MS = 15_000;
/** Nobody reads the answer's body; a little of it lets the connection end in order. */
const ANSWER_BYTES = 16 * 1024;

/** Thrown when a callback was answered with anything but 2xx. */
export class CallbackRefusedError extends Error {
  constructor(
    readonly status: number,
    /** From `Retry-After`; null without it. */
    readonly retryAfterMillis: number | null,
  ) {
    super(`the receiver answered ${status}`);
    this.name = 'CallbackRefusedError';
  }
}

/** Sends a run's result to its callback URL, once, signed (Standard Webhooks). */
@Injectable()
export class SendCallback {
  constructor(
    private readonly policy: CallbackPolicy,
    private readonly runs: RunRepository,
    private readonly workflows: WorkflowRepository,
    private readonly results: GetRunResult,
  ) {}

  /** Throws when it was not accepted. Each attempt carries the same `webhook-id`. */
  async execute({ runId }: DueCallback, signal: AbortSignal): Promise<void> {
    const run = await this.runs.find(runId);
    if (!run?.callbackUrl) throw new Error(`run ${runId} or its callback URL is missing`);
    const body = await this.#body(run);
    const headers = webhookHeaders(await this.policy.secret(), `run_${runId}`, new Date(), body);
    const answer = await guardedFetch(new URL(run.callbackUrl), {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'user-agent': 'agent-management', ...headers },
      body,
      allowedHosts: this.policy.allowedHosts,
      timeoutMs: TIMEOUT_MS,
      maxResponseBytes: ANSWER_BYTES,
      longResponse: 'cut',
      signal,
    });
    if (answer.status >= 200 && answer.status < 300) return;
    const seconds = Number(answer.headers['retry-after'] ?? NaN);
    throw new CallbackRefusedError(answer.status, Number.isFinite(seconds) ? seconds * 1000 : null);
  }

  async #body(run: RunEntity): Promise<string> {
    // Also of a workflow that was deleted meanwhile.
    const workflow = await this.workflows.findVersion(run.workflowId, run.workflowVersion);
    if (!workflow) throw new Error(`workflow ${run.workflowId} is missing`);
    return JSON.stringify({
      type: run.status === 'SUCCESS' ? 'run.completed' : 'run.failed',
      timestamp: run.completedAt,
      data: await this.results.execute(workflow, run),
    });
  }
}
