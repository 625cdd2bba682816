import { z } from 'zod';
import { TOOL_NAMES } from '../../../bridge/protocol.js';

/** `tools` of an agent in the bridge, in a graph as in a version: names that the bridge has. */
export const toolNames = z
  .array(z.enum(TOOL_NAMES, `there is no such tool; there are: ${TOOL_NAMES.join(', ')}`))
  .max(64);
