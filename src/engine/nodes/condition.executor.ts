import { evaluateCase, type ConditionCase } from '../../workflows/conditions/evaluate-case.js';
import type { NodeExecutor, NodeResult, NodeVisit } from './node-executor.js';

/** `condition`: the first case that holds, else `else`; edges of other cases are dead. */
export class ConditionExecutor implements NodeExecutor {
  readonly type = 'condition';

  execute({ node, scope }: NodeVisit): Promise<NodeResult> {
    const { cases } = node.data as unknown as { cases: ConditionCase[] };
    const chosen = cases.find((one) => evaluateCase(one, scope))?.id ?? 'else';
    return Promise.resolve({ kind: 'completed', data: { case: chosen }, handle: chosen });
  }
}
