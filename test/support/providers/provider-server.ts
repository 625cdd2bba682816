import type { TestServer } from '../test-server.js';
import { AgentScopeSessionStub } from './agentscope-session-stub.js';
import { AgentScopeStub } from './agentscope-stub.js';
import { DifyStub } from './dify-stub.js';
import { NewApiStub } from './new-api-stub.js';
import type { ProviderStub } from './provider-stub.js';

/** One key a provider, each to be found nowhere. */
export const CANARIES = {
  newApi: 'sk-canary-newapi-5c1f0e7a',
  dify: 'app-canary-dify-8d2b6f41',
  agentscope: 'canary-agentscope-3e9a7c20',
} as const;

export interface Providers {
  readonly newApi: NewApiStub;
  readonly dify: DifyStub;
  readonly agentscope: AgentScopeStub;
  readonly sessions: AgentScopeSessionStub;
  close(): Promise<void>;
}

/** A stub of every provider, listening. */
export async function startProviders(): Promise<Providers> {
  const newApi = await new NewApiStub(CANARIES.newApi).start();
  const dify = await new DifyStub(CANARIES.dify).start();
  const agentscope = await new AgentScopeStub(CANARIES.agentscope).start();
  const sessions = await new AgentScopeSessionStub(CANARIES.agentscope).start();
  const all: ProviderStub[] = [newApi, dify, agentscope, sessions];
  return {
    newApi,
    dify,
    agentscope,
    sessions,
    close: async () => {
      await Promise.all(all.map((stub) => stub.close()));
    },
  };
}

/** Environment of a server that is connected to the stubs. */
export function connected({ newApi, dify, agentscope, sessions }: Providers): Record<string, string> {
  return {
    CREDENTIALS: JSON.stringify({
      'new-api-test': { provider: 'new-api', env: 'CANARY_NEW_API', baseUrl: newApi.baseUrl },
      'dify-test': { provider: 'dify', env: 'CANARY_DIFY', baseUrl: dify.baseUrl, scope: ['on-dify'] },
      'agentscope-test': { provider: 'agentscope', env: 'CANARY_AGENTSCOPE', baseUrl: agentscope.baseUrl },
      'sessions-test': { provider: 'agentscope', env: 'CANARY_AGENTSCOPE', baseUrl: sessions.baseUrl },
    }),
    CANARY_NEW_API: CANARIES.newApi,
    CANARY_DIFY: CANARIES.dify,
    CANARY_AGENTSCOPE: CANARIES.agentscope,
  };
}

/** The agents that run there, by key. */
export const AGENTS: Readonly<Record<string, unknown>> = {
  'on-hermes': { runtimeProvider: 'hermes', hermes: { model: 'demo' } },
  'on-new-api': { runtimeProvider: 'new-api', newApi: { model: 'm', credentialRef: 'new-api-test' } },
  'on-dify': {
    runtimeProvider: 'dify',
    dify: { appType: 'workflow', workflowId: 'wf-1', credentialRef: 'dify-test' },
  },
  'on-agentscope': {
    runtimeProvider: 'agentscope',
    agentscope: { agentId: 'friday', credentialRef: 'agentscope-test' },
  },
  'on-sessions': {
    runtimeProvider: 'agentscope',
    agentscope: { agentId: 'friday', protocolVersion: 2, credentialRef: 'sessions-test' },
  },
};

export async function publishAgents(server: TestServer): Promise<void> {
  for (const [agentKey, config] of Object.entries(AGENTS)) {
    await data(
      server.request('POST', '/admin/v1/agents', { agentKey, displayName: agentKey, description: '' }),
    );
    await data(server.request('POST', `/admin/v1/agents/${agentKey}/versions`, { config }));
    await data(server.request('POST', `/admin/v1/agents/${agentKey}/versions/1/publish`, { reason: 'test' }));
  }
}

/** A workflow with one node for each of these agents, in a row; its outputs are their texts by agent key. */
export function workflowOf(
  name: string,
  agentKeys: readonly string[],
  more: Record<string, unknown> = {},
): unknown {
  const nodeId = (agentKey: string): string => agentKey.replaceAll('-', '_');
  const agents = agentKeys.map((agentKey) => ({
    id: nodeId(agentKey),
    type: 'agent',
    data: { agentKey, prompt: 'Write about {{ in.topic }}', ...more },
  }));
  const fields = agentKeys.map((key) => ({ name: key, value: `{{ ${nodeId(key)}.text }}` }));
  const nodes = [
    { id: 'in', type: 'userInput', data: { fields: [{ name: 'topic', type: 'string' }] } },
    ...agents,
    { id: 'out', type: 'output', data: { fields } },
  ];
  const edges = nodes
    .slice(1)
    .map(({ id }, at) => ({ id: `e${String(at)}`, source: nodes[at]?.id, target: id }));
  return { name, displayName: name, description: '', mode: 'DAG', graphData: { nodes, edges }, settings: {} };
}

/** `data` of an answer that is no error. */
export async function data(answer: Promise<Response>): Promise<Record<string, unknown>> {
  const response = await answer;
  const body = (await response.json()) as {
    data: Record<string, unknown>;
    message: string;
    details?: unknown;
  };
  if (!response.ok) {
    throw new Error(`${String(response.status)} ${body.message} ${JSON.stringify(body.details ?? null)}`);
  }
  return body.data;
}
