import { z } from 'zod';
import { defineTool, ToolError, type BridgeTool } from './bridge-tool.js';
import type { Workspace } from './workspace.js';

/** Largest file one call may write. */
export const WRITE_BYTES = 2 * 1024 * 1024;

/** Writes a whole file as UTF-8, with the folders on the way; an existing file is replaced. */
export function writeFileTool(workspace: () => Promise<Workspace>): BridgeTool {
  return defineTool({
    name: 'write_file',
    description: 'Writes a text file (UTF-8) into the workspace; replaces it where it exists.',
    parameters: z.object({
      path: z.string().min(1).describe('File relative to the workspace'),
      content: z.string().describe('The whole new content'),
    }),
    async execute({ path, content }) {
      const bytes = Buffer.byteLength(content);
      if (bytes > WRITE_BYTES) throw new ToolError(`content is larger than ${WRITE_BYTES} bytes`);
      const lone = content.search(/\p{Surrogate}/u);
      if (lone >= 0) {
        throw new ToolError(
          `content contains a lone surrogate at character ${lone}, which UTF-8 cannot hold`,
        );
      }
      const handle = await (await workspace()).openToWrite(path);
      try {
        await handle.truncate(0);
        await handle.writeFile(content, 'utf8');
      } finally {
        await handle.close();
      }
      return { path, bytes };
    },
  });
}
