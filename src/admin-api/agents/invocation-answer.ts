import type { AgentRuntimeEvent } from '../../runtime-adapters/protocol/agent-runtime-event.js';
import type { AgentRuntimeResponse } from '../../runtime-adapters/protocol/agent-runtime-response.js';

/** `data` of an invocation (contract.md). What was answered becomes a candidate; it is not handed out here. */
export interface InvocationAnswer extends Pick<
  AgentRuntimeResponse,
  | 'status'
  | 'outputSummary'
  | 'provider'
  | 'providerRequestId'
  | 'usage'
  | 'traceability'
  | 'finishReason'
  | 'failure'
> {
  commandId: string;
  candidateId: string | null;
}

export function invocationAnswer(commandId: string, response: AgentRuntimeResponse): InvocationAnswer {
  return {
    commandId,
    status: response.status,
    outputSummary: response.outputSummary,
    provider: response.provider,
    providerRequestId: response.providerRequestId,
    usage: response.usage,
    traceability: response.traceability,
    finishReason: response.finishReason,
    failure: response.failure,
    candidateId: null,
  };
}

/** A runtime event as a frame of the stream, by its name; the last one holds the answer. */
export function eventFrame(commandId: string, event: AgentRuntimeEvent): string {
  if (event.type === 'runtime.heartbeat') return ': heartbeat\n\n';
  const data = 'response' in event ? lastEvent(commandId, event) : { ...event, commandId };
  return `event: ${event.type}\ndata: ${JSON.stringify(data)}\n\n`;
}

/** The answer's fields stand at the top, as in JSON, and as `response`, as the event has it. */
function lastEvent(
  commandId: string,
  { type, response }: Extract<AgentRuntimeEvent, { response: AgentRuntimeResponse }>,
): object {
  const answer = invocationAnswer(commandId, response);
  return { type, ...answer, response: answer };
}
