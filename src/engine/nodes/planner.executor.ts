import type { CallRuntime } from './call-runtime.js';
import type { NodeExecutor, NodeResult, NodeVisit } from './node-executor.js';
import { NodeFailure } from './node-failure.js';
import { readPlan } from './planner/planner-answer.js';
import {
  PLANNER_ANSWER_SCHEMA,
  PLANNER_INSTRUCTIONS,
  plannerPrompt,
  type PlannerQuestion,
  type RefusedAnswer,
} from './planner/planner-question.js';
import type { ResolveAgent } from './resolve-agent.js';

/** Answers of one visit: the first, and one more after an answer that cannot be followed. */
const MAX_ASKS = 2;

/**
 * `planner`, the pseudo-node of the `llm` planner (decision 31): asks a model which nodes are visited next. Gives
 * `{next: [{nodeId, reason}], finish, asks}`. An answer that cannot be followed is asked for once more, with the
 * reason; after that the node fails with `PLANNER_FAILED`.
 */
export class PlannerExecutor implements NodeExecutor {
  readonly type = 'planner';

  constructor(
    private readonly resolveAgent: ResolveAgent,
    private readonly runtime: CallRuntime,
  ) {}

  async execute(visit: NodeVisit, signal: AbortSignal): Promise<NodeResult> {
    const question = visit.node.data as unknown as PlannerQuestion;
    const agent = await this.resolveAgent(visit.node.data);
    let refused: RefusedAnswer | null = null;
    for (let asksBefore = 0; asksBefore < MAX_ASKS; asksBefore += 1) {
      const output = await this.runtime.execute(
        visit,
        {
          agentRef: agent.agentRef,
          inputEnvelope: {
            instructions: PLANNER_INSTRUCTIONS,
            instruction: plannerPrompt(question, refused),
            contextSummary: [],
            knowledge: [],
            formatRequirements: null,
          },
          outputContract: { type: 'json', schema: PLANNER_ANSWER_SCHEMA },
          tools: [],
          planner: { planIndex: question.asks + asksBefore, asksBefore },
        },
        signal,
      );
      const read = readPlan(output, question);
      if ('plan' in read) return { kind: 'completed', data: { ...read.plan, asks: asksBefore + 1 } };
      refused = { text: output.text, problem: read.problem };
      visit.log({ type: 'info', message: read.problem });
    }
    throw new NodeFailure('PLANNER_FAILED', refused?.problem ?? 'the planner was not asked');
  }
}
