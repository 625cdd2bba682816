import { z } from 'zod';
import type { JsonObject } from '../../../common/json/json-value.js';
import { kebabName, templateText, templatesIn } from './common-data.js';
import { jsonSchemaProblems } from './json-schema-problems.js';
import { defineNodeType } from './node-type.js';

/** `smartAction`: one model call whose answer must fit `outputSchema`, a JSON Schema of an object. */
export const smartActionNode = defineNodeType({
  type: 'smartAction',
  shape: {
    model: z.string().min(1).max(200).optional(),
    agentKey: kebabName.optional(),
    version: z.int().min(1).optional(),
    prompt: templateText,
    outputSchema: z.custom<JsonObject>(
      (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
      'must be a JSON Schema object',
    ),
  },
  inspect: ({ model, agentKey, version, prompt, outputSchema }) => ({
    templates: templatesIn('prompt', prompt),
    problems: [
      ...(outputSchema ? jsonSchemaProblems('outputSchema', outputSchema) : []),
      ...(model !== undefined && agentKey !== undefined
        ? [{ field: 'model', message: 'cannot stand beside agentKey, whose version says it' }]
        : []),
      ...(version !== undefined && agentKey === undefined
        ? [{ field: 'version', message: 'needs agentKey' }]
        : []),
    ],
  }),
});
