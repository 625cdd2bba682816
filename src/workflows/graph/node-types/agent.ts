import { z } from 'zod';
import type { FieldError } from '../../../common/errors/domain-error.js';
import { kebabName, templateText, templatesIn } from './common-data.js';
import { defineNodeType } from './node-type.js';
import { toolNames } from './tool-names.js';

const INLINE_KEYS = ['model', 'instructions', 'tools'] as const;

/**
 * `agent`: one call of an agent: a published one by `agentKey` (and `version`) or `slotKey`, or one written here as
 * `model, instructions, tools`. Without `model` the configuration's `hermes.llm.model` answers.
 */
export const agentNode = defineNodeType({
  type: 'agent',
  shape: {
    agentKey: kebabName.optional(),
    version: z.int().min(1).optional(),
    slotKey: kebabName.optional(),
    model: z.string().min(1).max(200).optional(),
    instructions: z.string().max(200_000).optional(),
    tools: toolNames.optional(),
    prompt: templateText,
  },
  inspect: (data) => ({
    templates: templatesIn('prompt', data.prompt),
    problems: agentChoiceProblems(data),
  }),
});

function agentChoiceProblems(data: {
  agentKey?: string;
  slotKey?: string;
  version?: number;
  model?: string;
  instructions?: string;
  tools?: string[];
}): FieldError[] {
  const problems: FieldError[] = [];
  const named = data.agentKey !== undefined ? 'agentKey' : data.slotKey !== undefined ? 'slotKey' : null;
  if (data.agentKey !== undefined && data.slotKey !== undefined) {
    problems.push({ field: 'slotKey', message: 'cannot stand beside agentKey' });
  }
  if (data.version !== undefined && data.agentKey === undefined) {
    problems.push({ field: 'version', message: 'needs agentKey' });
  }
  for (const key of INLINE_KEYS) {
    if (named && data[key] !== undefined) {
      problems.push({ field: key, message: `cannot stand beside ${named}, whose version says it` });
    }
  }
  return problems;
}
