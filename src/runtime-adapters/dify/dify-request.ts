import { JsonTextError, MAX_ANSWER_DEPTH, readJson } from '../../common/json/read-json.js';
import { difyTraceId, traceHeaders } from '../protocol/trace-headers.js';
import type { AgentRuntimeRequest } from '../protocol/agent-runtime-request.js';
import {
  composePrompt,
  composeText,
  contextText,
  formatText,
  knowledgeText,
} from '../protocol/compose-prompt.js';
import { failureOf, RuntimeFault } from '../protocol/failure-classification.js';
import { pseudonym } from '../protocol/pseudonym.js';
import type { ProviderRef } from '../protocol/provider-ref.js';

export type DifyRef = Extract<ProviderRef, { runtimeProvider: 'dify' }>['dify'];

export interface DifyPost {
  readonly path: string;
  readonly body: { inputs: Record<string, unknown>; user: string; response_mode: string; query?: string };
}

/** The key names the app, and `/workflows/run` runs what is published of it; a version's id, a UUID, pins that one. */
const VERSION_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** One request of a chat, agent or workflow app. */
export function difyPost(request: AgentRuntimeRequest, ref: DifyRef): DifyPost {
  const user = pseudonym(request.actor);
  const streams = ref.appType === 'agent' || ref.responseMode !== 'blocking';
  const common = { user, response_mode: streams ? 'streaming' : 'blocking' };
  if (ref.appType === 'workflow') {
    const id = ref.workflowId;
    return {
      path: id && VERSION_ID.test(id) ? `/workflows/${id}/run` : '/workflows/run',
      body: { ...common, inputs: workflowInputs(request) },
    };
  }
  return {
    path: '/chat-messages',
    body: { ...common, query: composeText(request), inputs: namedInputs(request) },
  };
}

export function difyTraceHeaders(ids: { commandId: string; correlationId: string }): Record<string, string> {
  return { ...traceHeaders(ids), 'x-trace-id': difyTraceId(ids.commandId) };
}

/** The parts of the envelope by name; Dify passes over those its start node does not declare. */
function namedInputs(request: AgentRuntimeRequest): Record<string, string> {
  return {
    instructions: request.inputEnvelope.instructions,
    instruction: request.inputEnvelope.instruction,
    context: contextText(request),
    knowledge: knowledgeText(request),
    format_requirements: formatText(request),
  };
}

/** `query` holds everything at once; the keys of an instruction that is a JSON object are inputs of their own. */
function workflowInputs(request: AgentRuntimeRequest): Record<string, unknown> {
  const { system, user } = composePrompt(request);
  return {
    ...namedInputs(request),
    query: system === '' ? user : `${system}\n\n${user}`,
    ...objectIn(request.inputEnvelope.instruction),
  };
}

function objectIn(instruction: string): Record<string, unknown> {
  if (!instruction.trimStart().startsWith('{')) return {};
  let value: unknown;
  try {
    value = readJson(instruction, { maxDepth: MAX_ANSWER_DEPTH, unsafeNumbers: 'refuse' });
  } catch (error) {
    if (!(error instanceof JsonTextError)) throw error;
    if (error.kind === 'syntax') return {};
    throw new RuntimeFault(failureOf('provider_bad_request', error.saidOf('the instruction')));
  }
  // What begins with a brace and is JSON is an object.
  return value as Record<string, unknown>;
}
