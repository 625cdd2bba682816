import { Injectable } from '@nestjs/common';
import type { AgentRuntimeAdapter } from './protocol/agent-runtime-adapter.js';
import type { AgentRuntimeEvent } from './protocol/agent-runtime-event.js';
import type { AgentRuntimeRequest } from './protocol/agent-runtime-request.js';
import { runtimeUnavailable } from './protocol/runtime-unavailable.js';

/** Chooses the one adapter a request names; there is no fallback (agent-runtime-protocol.md §5.1). */
@Injectable()
export class AgentRuntimeRouter {
  readonly #adapters: readonly AgentRuntimeAdapter[];

  constructor(adapters: readonly AgentRuntimeAdapter[]) {
    this.#adapters = adapters;
  }

  async *execute(request: AgentRuntimeRequest, signal: AbortSignal): AsyncIterable<AgentRuntimeEvent> {
    const ref = request.agentRef.provider;
    const adapter = this.#adapters.find(
      (candidate) => candidate.provider === ref.runtimeProvider && candidate.supports(ref),
    );
    if (!adapter) {
      yield runtimeUnavailable(ref.runtimeProvider);
      return;
    }
    yield* adapter.execute(request, signal);
  }
}
