import { z } from 'zod';
import { jsonValue, kebabName, templatesIn } from './common-data.js';
import { defineNodeType } from './node-type.js';

/** `subWorkflow`: a run of another workflow; the texts in its variables are templates. */
export const subWorkflowNode = defineNodeType({
  type: 'subWorkflow',
  shape: {
    workflowName: kebabName,
    version: z.int().min(1).optional(),
    variables: z.record(z.string().min(1).max(100), jsonValue).optional(),
  },
  inspect: ({ variables }) => ({ templates: templatesIn('variables', variables) }),
});
