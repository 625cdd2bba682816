import type { Agent, AgentAnswer } from './agent.js';
import type { BridgeLogger } from './bridge-logger.js';
import type { BridgeSettings } from './bridge-settings.js';
import { deadline, type Deadline } from '../common/time/deadline.js';
import { demoAgent } from './demo/demo-agent.js';
import type { Emit } from './event-stream.js';
import type { BridgeEvent, BridgeRunRequest } from './protocol.js';
import { RunFailure } from './run-failure.js';
import { jsonObjectIn } from './structured-answer.js';
import { visitToolbox } from './tools/visit-toolbox.js';

export const DEMO_MODEL = 'demo';

/**
 * Works on one request and reports its end exactly once, unless `disconnected` aborts: then there is nobody left
 * to tell, and the work just stops.
 */
export async function runVisit(
  request: BridgeRunRequest,
  options: { settings: BridgeSettings; logger: BridgeLogger; emit: Emit; disconnected: AbortSignal },
): Promise<void> {
  const { settings, logger, emit, disconnected } = options;
  const time = deadline(request.timeout_seconds * 1000, disconnected);
  let end: BridgeEvent;
  try {
    const secrets = [request.context_query?.token ?? '', settings.llm?.apiKey ?? '', settings.secret];
    const toolbox = visitToolbox(request, { maxCalls: settings.maxToolCalls, secrets, logger });
    const agent = await agentFor(request.model, settings);
    const answer = await agent({ request, toolbox, emit, signal: time.signal });
    time.signal.throwIfAborted();
    end = resultOf(answer, request);
  } catch (error) {
    if (disconnected.aborted) return;
    end = { event: 'error', data: failureOf(error, { time, request, logger }).toEvent() };
  } finally {
    time.close();
  }
  await emit(end);
}

async function agentFor(model: string, settings: BridgeSettings): Promise<Agent> {
  if (model === DEMO_MODEL) {
    if (settings.allowDemo) return demoAgent;
    throw new RunFailure('runtime_unavailable', 'the demo model is switched off');
  }
  if (!settings.llm) {
    throw new RunFailure('runtime_unavailable', `hermes.llm.base-url is not set, so ${model} cannot run`);
  }
  // Loaded when first needed: the AI SDK is by far the largest part of the process.
  const { modelAgent } = await import('./model/model-agent.js');
  return modelAgent(settings.llm);
}

function resultOf(answer: AgentAnswer, request: BridgeRunRequest): BridgeEvent {
  const data = answer.data ?? jsonObjectIn(answer.text);
  if (request.output_schema && !data) {
    throw new RunFailure('provider_bad_response', 'the answer is not a JSON object');
  }
  return { event: 'result', data: { text: answer.text, data, finish_reason: answer.finishReason } };
}

function failureOf(
  error: unknown,
  { time, request, logger }: { time: Deadline; request: BridgeRunRequest; logger: BridgeLogger },
): RunFailure {
  if (time.hasPassed()) {
    return new RunFailure('network_timeout', `no answer within ${request.timeout_seconds} s`, {
      retryable: true,
    });
  }
  if (error instanceof RunFailure) return error;
  logger.error(
    { err: error, runId: request.run_id, nodeId: request.node_id },
    'a run of the bridge failed unexpectedly',
  );
  return new RunFailure('internal_error', 'the bridge failed unexpectedly; its log says why');
}
