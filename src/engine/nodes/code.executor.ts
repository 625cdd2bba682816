import type { JsonObject, JsonValue } from '../../common/json/json-value.js';
import { renderTemplates } from '../../workflows/templates/index.js';
import type { CodeSandbox } from './code/code-sandbox.js';
import type { SandboxAnswer, SandboxFailure } from './code/sandbox-job.js';
import type { NodeExecutor, NodeResult, NodeVisit } from './node-executor.js';
import { NodeFailure, type NodeFailureCode } from './node-failure.js';

const MAX_INPUT_BYTES = 10 * 1024 ** 2;

const FAILURE_CODES: Readonly<Record<SandboxFailure, NodeFailureCode>> = {
  thrown: 'CODE_ERROR',
  time: 'CODE_TIMEOUT',
  memory: 'CODE_MEMORY',
  output: 'CODE_OUTPUT',
};

/**
 * `code`: the body of a JavaScript function of `inputs`, in a sandbox without I/O. Gives the returned object, else
 * `{result}`; a throw fails the node with its message. The same visit with the same inputs gives the same.
 */
export class CodeExecutor implements NodeExecutor {
  readonly type = 'code';

  constructor(private readonly sandbox: CodeSandbox) {}

  async execute(visit: NodeVisit, signal: AbortSignal): Promise<NodeResult> {
    const { code, inputs = {} } = visit.node.data as { code: string; inputs?: JsonObject };
    const text = JSON.stringify(await renderTemplates(inputs, visit.scope));
    if (Buffer.byteLength(text) > MAX_INPUT_BYTES) {
      throw new NodeFailure('CODE_INPUT', `the inputs have more than ${MAX_INPUT_BYTES} bytes`);
    }
    const answer = await this.sandbox.run(
      {
        code,
        inputs: text,
        seed: visit.visitUuid,
        now: Date.now(),
        timeoutMillis: visit.timeoutSeconds * 1000,
      },
      signal,
    );
    for (const message of answer.console) visit.log({ type: 'info', message });
    if (answer.kind === 'failed' && answer.line !== null) {
      visit.log({ type: 'info', message: `it failed at line ${answer.line} of the code` });
    }
    return { kind: 'completed', data: dataOf(answer) };
  }
}

function dataOf(answer: SandboxAnswer): JsonObject {
  if (answer.kind === 'failed') {
    throw new NodeFailure(FAILURE_CODES[answer.reason], answer.message);
  }
  const value = JSON.parse(answer.json) as JsonValue;
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isObject ? value : { result: value };
}
