import type { WorkflowSettings } from '../../workflows/index.js';

/** What a run may use up, over all its visits (`settings.budget`). */
export class RunBudget {
  #tokens: number;
  #toolCalls: number;

  /** `spent`: what the visits so far have used. */
  constructor(
    private readonly budget: WorkflowSettings['budget'],
    spent: readonly { tokens: number; toolCalls: number }[],
  ) {
    this.#tokens = spent.reduce((sum, { tokens }) => sum + tokens, 0);
    this.#toolCalls = spent.reduce((sum, { toolCalls }) => sum + toolCalls, 0);
  }

  /** What is exceeded, in words; null while there is budget left. */
  spend({ tokens, toolCalls }: { tokens: number; toolCalls: number }): string | null {
    this.#tokens += tokens;
    this.#toolCalls += toolCalls;
    const { budget } = this;
    if (budget?.tokens !== undefined && this.#tokens > budget.tokens) {
      return `${this.#tokens} tokens of ${budget.tokens}`;
    }
    if (budget?.toolCalls !== undefined && this.#toolCalls > budget.toolCalls) {
      return `${this.#toolCalls} tool calls of ${budget.toolCalls}`;
    }
    return null;
  }
}
