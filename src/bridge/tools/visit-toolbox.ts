import type { BridgeLogger } from '../bridge-logger.js';
import { TOOL_NAMES, type BridgeRunRequest } from '../protocol.js';
import { RunFailure } from '../run-failure.js';
import { contextTools } from './context-tools.js';
import { fileTools } from './file-tools.js';
import { Toolbox } from './toolbox.js';
import { updateTodoTool } from './update-todo.tool.js';

/**
 * The toolbox of a request: the built-in tools it names, and the context tools where it brings a context query.
 * Throws RunFailure `provider_bad_request` for a name that is no tool.
 */
export function visitToolbox(
  request: BridgeRunRequest,
  options: { maxCalls: number; secrets: readonly string[]; logger: BridgeLogger },
): Toolbox {
  const builtIn = [...fileTools(request.workspace_dir), updateTodoTool()];
  const known = new Set<string>(TOOL_NAMES);
  const unknown = request.tools.filter((name) => !known.has(name));
  if (unknown.length > 0) {
    throw new RunFailure('provider_bad_request', `there are no such tools: ${unknown.join(', ')}`);
  }
  const chosen = builtIn.filter(({ name }) => request.tools.includes(name));
  return new Toolbox([...chosen, ...contextToolsOf(request, options.logger)], options);
}

function contextToolsOf(request: BridgeRunRequest, logger: BridgeLogger): ReturnType<typeof contextTools> {
  if (!request.context_query) return [];
  const tools = contextTools(request.context_query);
  if (tools.length === 0) {
    logger.warn(
      { runId: request.run_id, nodeId: request.node_id },
      'context tools are not registered: the base URL is not on this machine',
    );
  }
  return tools;
}
