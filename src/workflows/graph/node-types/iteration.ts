import { z } from 'zod';
import { jsonValue, templatesIn } from './common-data.js';
import { defineNodeType } from './node-type.js';

/** `iteration`: a sub-graph run for each item of a list, in order; its nodes also read `item` and `index`. */
export const iterationNode = defineNodeType({
  type: 'iteration',
  shape: {
    items: z.union([z.string().min(1).max(200_000), z.array(jsonValue).max(10_000)], {
      error: (issue) => (issue.input === undefined ? 'is required' : 'must be a template or a list'),
    }),
    graph: jsonValue,
    concurrency: z.int().min(1).max(100).optional(),
  },
  inspect: ({ items, graph }) => ({
    templates: typeof items === 'string' ? templatesIn('items', items) : [],
    subGraph: graph === undefined ? null : { field: 'graph', graph },
    problems:
      typeof items === 'string' && !items.includes('{{')
        ? [{ field: 'items', message: 'must be a list, or a template that gives one' }]
        : [],
  }),
});
