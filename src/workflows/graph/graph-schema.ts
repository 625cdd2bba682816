import { z } from 'zod';
import { NODE_TYPES, type NodeType } from './graph-data.js';
import { nodeTypes } from './node-types/node-types.js';
import { agenticSettings } from './validation/check-settings.js';

/** `agent` -> `AgentNode`. */
const componentOf = (type: NodeType): string => `${type.charAt(0).toUpperCase()}${type.slice(1)}Node`;

const nodeSchemas = NODE_TYPES.map((type) =>
  z
    .looseObject({ id: z.string(), type: z.literal(type), data: nodeTypes[type].schema })
    .meta({ id: componentOf(type) }),
);
const [first, ...others] = nodeSchemas;
if (!first) throw new Error('there are no node types');

const edgeSchema = z
  .looseObject({
    id: z.string(),
    source: z.string().describe('Id of a node'),
    target: z.string().describe('Id of a node'),
    sourceHandle: z.string().nullish().describe('The outcome of a condition: a case id or `else`'),
  })
  .meta({ id: 'GraphEdge' });

/**
 * The shape of a graph for those who describe it to others. Definitions are judged by `validateGraph`, which says more
 * and finds every problem instead of the first.
 */
export const graphDataSchema = z
  .looseObject({
    nodes: z.array(z.discriminatedUnion('type', [first, ...others]).meta({ id: 'GraphNode' })),
    edges: z.array(edgeSchema),
  })
  .meta({ id: 'GraphData' });

export const workflowSettingsSchema = agenticSettings.meta({
  id: 'WorkflowSettings',
  description: 'DAG workflows know runTimeoutSeconds, budget and concurrency only',
});
