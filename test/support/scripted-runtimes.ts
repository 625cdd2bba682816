import type { PendingRuntimeCall } from '../../src/runtime-adapters/protocol/agent-runtime-adapter.js';
import type { AgentRuntimeEvent } from '../../src/runtime-adapters/protocol/agent-runtime-event.js';
import type { AgentRuntimeRequest } from '../../src/runtime-adapters/protocol/agent-runtime-request.js';
import type { AgentRuntimeResponse } from '../../src/runtime-adapters/protocol/agent-runtime-response.js';
import type { RuntimeRouting } from '../../src/runtime-adapters/ledger/runtime-routing.js';
import { runtimeResponse } from '../factories/runtime-response.js';

type Script = (request: AgentRuntimeRequest, signal: AbortSignal) => AsyncIterable<AgentRuntimeEvent>;

/** Stands in for the router: what runtimes do is scripted, and what they were asked is kept. */
export class ScriptedRuntimes implements RuntimeRouting {
  readonly sent: AgentRuntimeRequest[] = [];
  readonly polled: PendingRuntimeCall[] = [];
  readonly stopped: PendingRuntimeCall[] = [];

  script: Script = answerWith(runtimeResponse());
  recovered: (call: PendingRuntimeCall) => Promise<AgentRuntimeResponse> = () =>
    Promise.reject(new Error('no recovery was scripted'));
  confirmsStop = true;

  execute(request: AgentRuntimeRequest, signal: AbortSignal): AsyncIterable<AgentRuntimeEvent> {
    this.sent.push(request);
    return this.script(request, signal);
  }

  recover(call: PendingRuntimeCall): Promise<AgentRuntimeResponse> {
    this.polled.push(call);
    return this.recovered(call);
  }

  cancel(call: PendingRuntimeCall): Promise<boolean> {
    this.stopped.push(call);
    return Promise.resolve(this.confirmsStop);
  }
}

/** Starts, says the given things, ends. */
export function answerWith(response: AgentRuntimeResponse, said: AgentRuntimeEvent[] = []): Script {
  return async function* () {
    await Promise.resolve();
    yield { type: 'runtime.started', providerRequestId: response.providerRequestId };
    yield* said;
    yield response.status === 'succeeded'
      ? { type: 'runtime.completed', response }
      : { type: response.status === 'cancelled' ? 'runtime.cancelled' : 'runtime.failed', response };
  };
}
