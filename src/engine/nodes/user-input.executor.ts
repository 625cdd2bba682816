import type { NodeExecutor, NodeResult, NodeVisit } from './node-executor.js';

/** `userInput`: the run's variables, which were checked when the run was created. */
export class UserInputExecutor implements NodeExecutor {
  readonly type = 'userInput';

  execute({ run }: NodeVisit): Promise<NodeResult> {
    return Promise.resolve({ kind: 'completed', data: run.variables });
  }
}
