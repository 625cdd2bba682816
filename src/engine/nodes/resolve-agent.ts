import type {
  AgentRuntimeRequest,
  OutputContract,
} from '../../runtime-adapters/protocol/agent-runtime-request.js';
import type { CommonNodeData } from '../../workflows/graph/graph-data.js';
import type { JsonObject } from '../../common/json/json-value.js';
import { NodeFailure } from './node-failure.js';

/** An agent as a node calls it, whether it is a published version or written in the graph. */
export interface ResolvedAgent {
  agentRef: AgentRuntimeRequest['agentRef'];
  instructions: string;
  outputContract: OutputContract;
  tools: string[];
  policies: Partial<Pick<AgentRuntimeRequest, 'traceabilityPolicy' | 'timeoutPolicy' | 'retryPolicy'>>;
}

/** Finds the agent that a node's `data` names. Throws NodeFailure where there is none. */
export type ResolveAgent = (data: CommonNodeData & JsonObject) => Promise<ResolvedAgent>;

/** Published agents by key or slot; the agents context implements it. */
export interface AgentCatalogue {
  resolve(name: { agentKey: string; version?: number } | { slotKey: string }): Promise<ResolvedAgent | null>;
}

/** An agent written in the graph (`model, instructions, tools`) runs in our bridge; others are looked up. */
export function agentResolver(catalogue: AgentCatalogue | null, defaultModel: string | null): ResolveAgent {
  return async (data) => {
    const { agentKey, slotKey, version } = data;
    if (typeof agentKey === 'string') {
      const wanted = typeof version === 'number' ? { agentKey, version } : { agentKey };
      return (await catalogue?.resolve(wanted)) ?? notPublished(`agent ${agentKey}`);
    }
    if (typeof slotKey === 'string') {
      return (await catalogue?.resolve({ slotKey })) ?? notPublished(`slot ${slotKey}`);
    }
    const model = typeof data.model === 'string' ? data.model : defaultModel;
    if (!model) {
      throw new NodeFailure('runtime_unavailable', 'no model: set `model`, or hermes.llm.model');
    }
    const tools = Array.isArray(data.tools) ? data.tools.map(String) : [];
    return {
      agentRef: {
        agentKey: null,
        version: null,
        slotKey: null,
        provider: { runtimeProvider: 'hermes', hermes: { model, tools } },
      },
      instructions: typeof data.instructions === 'string' ? data.instructions : '',
      outputContract: { type: 'text' },
      tools,
      policies: {},
    };
  };
}

function notPublished(wanted: string): never {
  throw new NodeFailure('AGENT_NOT_FOUND', `${wanted} has no published version`);
}
