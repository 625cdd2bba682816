import { z } from 'zod';
import { jsonValue, templatesIn } from './common-data.js';
import { fieldName } from './input-field.js';
import { defineNodeType } from './node-type.js';
import { repeatedNames } from './repeated-names.js';

/** Names that the public outputs add themselves (external-workflow-api.md, "查询结果"). */
const RESERVED = ['_workingDirFiles', '_runId'];

/** `output`: the run's outputs; the texts in the values are templates. */
export const outputNode = defineNodeType({
  type: 'output',
  shape: {
    fields: z
      .array(
        z.strictObject({
          name: fieldName.refine((name) => !RESERVED.includes(name), 'is a reserved name'),
          value: jsonValue,
          type: z.string().max(50).optional(),
          label: z.string().max(200).optional(),
          description: z.string().max(2_000).optional(),
        }),
      )
      .max(200),
  },
  inspect: ({ fields }) => ({
    templates: (fields ?? []).flatMap(({ value }, at) => templatesIn(`fields.${at}.value`, value)),
    problems: repeatedNames('fields', 'name', fields ?? []),
  }),
});
