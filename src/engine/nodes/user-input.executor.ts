import type { JsonObject } from '../../common/json/json-value.js';
import type { NodeExecutor, NodeResult, NodeVisit, VisitedRun } from './node-executor.js';

/** `userInput`: the run's variables, which were checked when the run was created. */
export class UserInputExecutor implements NodeExecutor {
  readonly type = 'userInput';

  known({ variables }: VisitedRun): JsonObject {
    return variables;
  }

  execute({ run }: NodeVisit): Promise<NodeResult> {
    return Promise.resolve({ kind: 'completed', data: this.known(run) });
  }
}
