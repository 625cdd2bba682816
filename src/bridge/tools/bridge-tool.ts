import type { z } from 'zod';
import type { ToolName } from '../protocol.js';

/** A tool a model may call. Results are plain JSON; a `ToolError` is told to the model and does not end the run. */
export interface BridgeTool {
  readonly name: ToolName;
  readonly description: string;
  readonly parameters: z.ZodType;
  /** `args` have passed `parameters`. */
  execute(args: unknown, signal: AbortSignal): Promise<unknown>;
}

/** Thrown when a tool cannot do what was asked. The message is shown to the model and in the node's log. */
export class ToolError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ToolError';
  }
}

/** Ties a tool's parameters to the type its body sees. */
export function defineTool<Parameters extends z.ZodType>(tool: {
  name: ToolName;
  description: string;
  parameters: Parameters;
  execute(args: z.output<Parameters>, signal: AbortSignal): Promise<unknown>;
}): BridgeTool {
  return {
    ...tool,
    execute: (args, signal) => tool.execute(args as z.output<Parameters>, signal),
  };
}
