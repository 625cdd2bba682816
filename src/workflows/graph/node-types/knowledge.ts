import { z } from 'zod';
import { templateText, templatesIn } from './common-data.js';
import { defineNodeType } from './node-type.js';

/** `knowledge`: chunks that a knowledge base finds for a query. No provider of knowledge bases is connected yet. */
export const knowledgeNode = defineNodeType({
  type: 'knowledge',
  shape: {
    credentialRef: z.string().min(1).max(100),
    datasets: z.array(z.string().min(1).max(200)).min(1).max(50),
    query: templateText.min(1),
    limit: z.int().min(1).max(100).optional(),
  },
  inspect: ({ query, credentialRef = '…' }) => ({
    templates: templatesIn('query', query),
    unavailable: {
      field: 'credentialRef',
      message: `credentials.${credentialRef} names no knowledge base: this version has no provider of any`,
    },
  }),
});
