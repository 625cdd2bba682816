import { z } from 'zod';
import { maskSecrets, maskSecretsIn } from '../mask-secrets.js';
import { ToolError, type BridgeTool } from './bridge-tool.js';

/**
 * The tools of one visit, whoever calls them. Counts the calls and refuses those past the limit (§9.4), checks
 * the arguments, and masks secrets in what comes back, so that a tool's result can be handed to a model as it is.
 */
export class Toolbox {
  readonly #tools: ReadonlyMap<string, BridgeTool>;
  readonly #maxCalls: number;
  readonly #secrets: readonly string[];
  #calls = 0;

  constructor(tools: readonly BridgeTool[], options: { maxCalls: number; secrets: readonly string[] }) {
    this.#tools = new Map(tools.map((tool) => [tool.name, tool]));
    this.#maxCalls = options.maxCalls;
    this.#secrets = options.secrets;
  }

  get tools(): BridgeTool[] {
    return [...this.#tools.values()];
  }

  has(name: string): boolean {
    return this.#tools.has(name);
  }

  /** Throws ToolError when the call is refused or fails; its message is fit for the model and the log. */
  async call(name: string, args: unknown, signal: AbortSignal): Promise<unknown> {
    signal.throwIfAborted();
    this.#calls += 1;
    if (this.#calls > this.#maxCalls) {
      throw new ToolError(`refused: more than ${this.#maxCalls} tool calls in one visit`);
    }
    const tool = this.#tools.get(name);
    if (!tool) throw new ToolError(`there is no tool ${name.slice(0, 100)}; there are: ${this.#names()}`);
    const parsed = tool.parameters.safeParse(args);
    if (!parsed.success) throw new ToolError(`wrong arguments: ${z.prettifyError(parsed.error)}`);
    try {
      return maskSecretsIn(await tool.execute(parsed.data, signal), this.#secrets);
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof ToolError) throw new ToolError(maskSecrets(error.message, this.#secrets));
      throw error;
    }
  }

  #names(): string {
    return [...this.#tools.keys()].join(', ') || 'none';
  }
}
