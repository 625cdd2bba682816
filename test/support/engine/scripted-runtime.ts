import type { JsonObject } from '../../../src/common/json/json-value.js';
import type { AgentRuntime } from '../../../src/engine/index.js';
import type { AgentRuntimeEvent } from '../../../src/runtime-adapters/protocol/agent-runtime-event.js';
import type { AgentRuntimeRequest } from '../../../src/runtime-adapters/protocol/agent-runtime-request.js';
import type {
  AgentRuntimeResponse,
  RuntimeFailure,
} from '../../../src/runtime-adapters/protocol/agent-runtime-response.js';

/** What a scripted agent does for one request: the events before its end, and the end. */
export type Script = (
  request: AgentRuntimeRequest,
  signal: AbortSignal,
) => AsyncIterable<AgentRuntimeEvent> | Promise<AgentRuntimeEvent[]> | AgentRuntimeEvent[];

/** A runtime that plays scripts by node id, and counts what it was asked. */
export class ScriptedRuntime implements AgentRuntime {
  readonly requests: AgentRuntimeRequest[] = [];
  readonly scripts = new Map<string, Script>();

  /** Default: `{text: 'NODE done'}`. */
  on(nodeId: string, script: Script): this {
    this.scripts.set(nodeId, script);
    return this;
  }

  callsOf(nodeId: string): number {
    return this.requests.filter(({ workbench }) => workbench?.nodeId === nodeId).length;
  }

  async *execute(request: AgentRuntimeRequest, signal: AbortSignal): AsyncIterable<AgentRuntimeEvent> {
    this.requests.push(request);
    const nodeId = request.workbench?.nodeId ?? '';
    const script = this.scripts.get(nodeId) ?? (() => [says(`${nodeId} done`)]);
    const events = await script(request, signal);
    for await (const event of events) yield event;
  }
}

const response: AgentRuntimeResponse = {
  status: 'succeeded',
  outputSummary: '',
  output: null,
  outputPayloadRef: null,
  providerRequestId: null,
  provider: 'hermes',
  usage: null,
  traceability: 'none',
  finishReason: 'stop',
  failure: null,
};

export function says(text: string, data: JsonObject | null = null): AgentRuntimeEvent {
  return { type: 'runtime.completed', response: { ...response, output: { text, data } } };
}

export function fails(message: string, options: Partial<RuntimeFailure> = {}): AgentRuntimeEvent {
  const failure: RuntimeFailure = {
    type: 'provider_run_failed',
    code: null,
    httpStatus: null,
    retryable: false,
    message,
    ...options,
  };
  return { type: 'runtime.failed', response: { ...response, status: 'failed', failure } };
}

export function thinks(text: string): AgentRuntimeEvent {
  return { type: 'runtime.delta', channel: 'thinking', text };
}

/** Never ends by itself; ends as cancelled when its signal aborts. */
export function untilAborted(signal: AbortSignal): Promise<AgentRuntimeEvent[]> {
  return new Promise((resolve) => {
    const end = (): void =>
      resolve([{ type: 'runtime.cancelled', response: { ...response, status: 'cancelled' } }]);
    if (signal.aborted) end();
    else signal.addEventListener('abort', end, { once: true });
  });
}
