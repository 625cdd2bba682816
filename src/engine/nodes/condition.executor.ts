import { chooseCase, PatternError, type ConditionCase } from '../../workflows/conditions/index.js';
import type { NodeExecutor, NodeResult, NodeVisit } from './node-executor.js';
import { NodeFailure } from './node-failure.js';

/** `condition`: the first case that holds, else `else`; edges of other cases are dead. */
export class ConditionExecutor implements NodeExecutor {
  readonly type = 'condition';

  async execute({ node, scope }: NodeVisit): Promise<NodeResult> {
    const { cases } = node.data as unknown as { cases: ConditionCase[] };
    try {
      const chosen = await Promise.resolve(chooseCase(cases, scope));
      return { kind: 'completed', data: { case: chosen }, handle: chosen };
    } catch (error) {
      if (!(error instanceof PatternError)) throw error;
      throw new NodeFailure('CONDITION', error.message, { cause: error });
    }
  }
}
