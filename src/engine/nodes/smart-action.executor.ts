import type { JsonSchemaValidator } from '../../common/json-schema/index.js';
import type { JsonObject } from '../../common/json/json-value.js';
import { WorkerTimeoutError } from '../../common/workers/index.js';
import type { RuntimeOutput } from '../../runtime-adapters/protocol/agent-runtime-response.js';
import { renderText } from '../../workflows/templates/index.js';
import type { CallRuntime } from './call-runtime.js';
import { jsonAnswer } from './json-answer.js';
import type { NodeExecutor, NodeResult, NodeVisit } from './node-executor.js';
import { NodeFailure } from './node-failure.js';
import type { ResolveAgent } from './resolve-agent.js';

/** `smartAction`: one model call whose answer must be a JSON object that fits `outputSchema`; the answer's keys. */
export class SmartActionExecutor implements NodeExecutor {
  readonly type = 'smartAction';

  constructor(
    private readonly resolveAgent: ResolveAgent,
    private readonly runtime: CallRuntime,
    private readonly validator: JsonSchemaValidator,
  ) {}

  async execute(visit: NodeVisit, signal: AbortSignal): Promise<NodeResult> {
    const { node, scope } = visit;
    const { prompt, outputSchema } = node.data as unknown as { prompt: string; outputSchema: JsonObject };
    const agent = await this.resolveAgent(node.data);
    const output = await this.runtime.execute(
      visit,
      {
        agentRef: agent.agentRef,
        inputEnvelope: {
          instructions: agent.instructions,
          instruction: await renderText(prompt, scope),
          contextSummary: [],
          knowledge: [],
          formatRequirements: null,
        },
        outputContract: { type: 'json', schema: outputSchema },
        tools: [],
        ...agent.policies,
      },
      signal,
    );
    const answer = answerIn(output);
    await this.#check(answer, outputSchema, signal);
    return { kind: 'completed', data: answer };
  }

  async #check(answer: JsonObject, schema: JsonObject, signal: AbortSignal): Promise<void> {
    try {
      const problem = await this.validator.firstProblem(schema, answer, signal);
      if (!problem) return;
      const where = problem.path === '' ? 'it' : problem.path;
      throw new NodeFailure(
        'OUTPUT_SCHEMA',
        `the answer does not fit outputSchema: ${where} ${problem.message}`,
      );
    } catch (error) {
      if (!(error instanceof WorkerTimeoutError)) throw error;
      throw new NodeFailure('OUTPUT_SCHEMA', 'checking the answer against outputSchema took too long', {
        cause: error,
      });
    }
  }
}

function answerIn({ text, data }: RuntimeOutput): JsonObject {
  const answer: unknown = data ?? jsonAnswer(text);
  if (typeof answer === 'object' && answer !== null && !Array.isArray(answer)) return answer as JsonObject;
  throw new NodeFailure('OUTPUT_SCHEMA', 'the answer is not a JSON object');
}
