import type { JsonValue } from '../../common/json/json-value.js';
import type { AgentRuntimeResponse } from './agent-runtime-response.js';

/**
 * What happens while a runtime works (agent-runtime-protocol.md §4.3). The last event is one of `completed`,
 * `failed`, `cancelled` and carries the response. `heartbeat`, `tool_result` and `todo` are additions.
 */
export type AgentRuntimeEvent =
  | { type: 'runtime.requested'; commandId: string }
  /**
   * The provider has accepted it. `recovery` is what the adapter needs to find the call again: store it with the call
   * and hand it back in `PendingRuntimeCall.recovery`. Comes a second time where more became known.
   */
  | { type: 'runtime.started'; providerRequestId: string | null; recovery?: Record<string, string> }
  | { type: 'runtime.delta'; channel: 'text' | 'thinking'; text: string }
  | { type: 'runtime.tool_call'; callId: string; tool: string; args: JsonValue }
  | { type: 'runtime.tool_result'; callId: string; tool: string; result: JsonValue; error: string | null }
  | { type: 'runtime.todo'; todos: JsonValue[] }
  | { type: 'runtime.heartbeat' }
  | { type: 'runtime.completed'; response: AgentRuntimeResponse }
  | { type: 'runtime.failed'; response: AgentRuntimeResponse }
  | { type: 'runtime.cancelled'; response: AgentRuntimeResponse };
