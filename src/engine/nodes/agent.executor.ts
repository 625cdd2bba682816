import type { JsonObject, JsonValue } from '../../common/json/json-value.js';
import { orderedObject } from '../../common/json/ordered-object.js';
import type { RuntimeOutput } from '../../runtime-adapters/protocol/agent-runtime-response.js';
import { renderText } from '../../workflows/templates/index.js';
import { jsonAnswer } from './json-answer.js';
import type { CallRuntime } from './call-runtime.js';
import type { NodeExecutor, NodeResult, NodeVisit } from './node-executor.js';
import type { ResolveAgent } from './resolve-agent.js';

/** `agent`: one call of an agent through the runtime router; `{text}` and the keys of a JSON-object answer. */
export class AgentExecutor implements NodeExecutor {
  readonly type = 'agent';

  constructor(
    private readonly resolveAgent: ResolveAgent,
    private readonly runtime: CallRuntime,
  ) {}

  async execute(visit: NodeVisit, signal: AbortSignal): Promise<NodeResult> {
    const { node, scope } = visit;
    const agent = await this.resolveAgent(node.data);
    const { prompt } = node.data;
    const instruction = typeof prompt === 'string' ? await renderText(prompt, scope) : '';
    const output = await this.runtime.execute(
      visit,
      {
        agentRef: agent.agentRef,
        inputEnvelope: {
          instructions: agent.instructions,
          instruction,
          contextSummary: [],
          knowledge: [],
          formatRequirements: null,
        },
        outputContract: agent.outputContract,
        tools: agent.tools,
        ...agent.policies,
      },
      signal,
    );
    return { kind: 'completed', data: agentData(output) };
  }
}

/** `{text, …}`: the keys of a JSON-object answer stand beside its text. */
export function agentData({ text, data }: RuntimeOutput): JsonObject {
  return orderedObject<JsonValue>([['text', text], ...Object.entries(data ?? jsonObjectIn(text))]);
}

function jsonObjectIn(text: string): JsonObject {
  const trimmed = text.trim();
  if (!trimmed.startsWith('{') || !trimmed.endsWith('}')) return {};
  // A text in braces that is no JSON stays a text.
  return (jsonAnswer(trimmed) ?? {}) as JsonObject;
}
