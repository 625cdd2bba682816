import { randomUUID } from 'node:crypto';
import type { AgentRuntimeRequest } from '../protocol/agent-runtime-request.js';
import { composePrompt, composeText } from '../protocol/compose-prompt.js';
import type { ProviderRef } from '../protocol/provider-ref.js';
import { pseudonym } from '../protocol/pseudonym.js';

export type AgentScopeRef = Extract<ProviderRef, { runtimeProvider: 'agentscope' }>['agentscope'];

export function agentScopeRefOf(ref: ProviderRef): AgentScopeRef {
  if (ref.runtimeProvider !== 'agentscope') {
    throw new TypeError(`not an AgentScope reference: ${ref.runtimeProvider}`);
  }
  return ref.agentscope;
}

/**
 * Body of `POST /process` of AgentScope Runtime 1.1. The session is a fresh one for every post: two calls in one
 * session spoil it.
 */
export function processBody(request: AgentRuntimeRequest, ref: AgentScopeRef): Record<string, unknown> {
  const { system, user } = composePrompt(request);
  return {
    input: [...(system === '' ? [] : [inputMessage('system', system)]), inputMessage('user', user)],
    stream: true,
    id: request.commandId,
    session_id: randomUUID(),
    user_id: pseudonym(request.actor),
    ...dropMissing({ graph_id: ref.graphId, agent_id: ref.agentId, version: ref.version }),
  };
}

/** Body of `POST /chat/` of AgentScope 2.0. */
export function chatBody(
  request: AgentRuntimeRequest,
  agentId: string,
  sessionId: string,
): Record<string, unknown> {
  return {
    agent_id: agentId,
    session_id: sessionId,
    input: { name: 'user', role: 'user', content: [{ type: 'text', text: composeText(request) }] },
  };
}

function inputMessage(role: 'system' | 'user', text: string): Record<string, unknown> {
  return { role, type: 'message', content: [{ type: 'text', text }] };
}

function dropMissing(values: Record<string, string | null | undefined>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values).filter((entry): entry is [string, string] => Boolean(entry[1])),
  );
}
