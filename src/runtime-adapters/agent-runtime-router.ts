import { Injectable } from '@nestjs/common';
import { SecretRedactor } from '../credentials/index.js';
import type { AgentRuntimeAdapter, PendingRuntimeCall } from './protocol/agent-runtime-adapter.js';
import type { AgentRuntimeEvent } from './protocol/agent-runtime-event.js';
import type { AgentRuntimeRequest } from './protocol/agent-runtime-request.js';
import type { AgentRuntimeResponse } from './protocol/agent-runtime-response.js';
import { failureOf } from './protocol/failure-classification.js';
import { forbiddenFieldsOf } from './protocol/forbidden-fields.js';
import type { ProviderRef } from './protocol/provider-ref.js';
import { refusedResponse, runtimeUnavailable } from './protocol/runtime-unavailable.js';

/** Chooses the one adapter a request names; there is no fallback (agent-runtime-protocol.md §5.1). */
@Injectable()
export class AgentRuntimeRouter {
  readonly #adapters: readonly AgentRuntimeAdapter[];
  readonly #redactor: SecretRedactor;

  constructor(adapters: readonly AgentRuntimeAdapter[], redactor: SecretRedactor = new SecretRedactor()) {
    this.#adapters = adapters;
    this.#redactor = redactor;
  }

  async *execute(request: AgentRuntimeRequest, signal: AbortSignal): AsyncIterable<AgentRuntimeEvent> {
    const ref = request.agentRef.provider;
    const adapter = this.#adapterOf(ref);
    if (!adapter) {
      yield runtimeUnavailable(ref.runtimeProvider);
      return;
    }
    const forbidden = forbiddenFieldsOf(request, this.#redactor);
    if (forbidden.length > 0) {
      const list = forbidden.map(({ field, why }) => `${field} (${why})`).join(', ');
      const failure = failureOf('permission_denied', `must not leave: ${list}`, { code: 'forbidden_field' });
      yield { type: 'runtime.failed', response: refusedResponse(ref.runtimeProvider, failure) };
      return;
    }
    yield* adapter.execute(onlyWhatMayLeave(request), signal);
  }

  /** Whether a runtime could execute an agent with this reference. */
  supports(ref: ProviderRef): boolean {
    return this.#adapterOf(ref) !== undefined;
  }

  /** How a sent call ended, found out without sending it again; a failure where nothing can tell. */
  async recover(call: PendingRuntimeCall, signal: AbortSignal): Promise<AgentRuntimeResponse> {
    const adapter = this.#adapterOf(call.provider);
    if (adapter) return adapter.recover(call, signal);
    const failure = failureOf(
      'outcome_unknown',
      `the runtime ${call.provider.runtimeProvider} is not configured`,
    );
    return {
      ...refusedResponse(call.provider.runtimeProvider, failure),
      providerRequestId: call.providerRequestId,
    };
  }

  /** Stops a call; true once its provider confirms that it no longer runs. */
  async cancel(call: PendingRuntimeCall): Promise<boolean> {
    return (await this.#adapterOf(call.provider)?.cancel(call)) ?? false;
  }

  #adapterOf(ref: ProviderRef): AgentRuntimeAdapter | undefined {
    return this.#adapters.find(
      (adapter) => adapter.provider === ref.runtimeProvider && adapter.supports(ref),
    );
  }
}

/** The workbench opens the run's workspace and its context: our own bridge only. */
function onlyWhatMayLeave(request: AgentRuntimeRequest): AgentRuntimeRequest {
  return request.agentRef.provider.runtimeProvider === 'hermes'
    ? request
    : { ...request, workbench: undefined };
}
