import type { BridgeTool } from './bridge-tool.js';
import { listFilesTool } from './list-files.tool.js';
import { readFileTool } from './read-file.tool.js';
import { writeFileTool } from './write-file.tool.js';
import { Workspace } from './workspace.js';

/** The tools that work on a run's folder. It is looked up at the first call: many agents never touch it. */
export function fileTools(workspaceDir: string): BridgeTool[] {
  let opened: Promise<Workspace> | undefined;
  const workspace = (): Promise<Workspace> => (opened ??= Workspace.at(workspaceDir));
  return [listFilesTool(workspace), readFileTool(workspace), writeFileTool(workspace)];
}
