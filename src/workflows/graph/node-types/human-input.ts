import { templateText, templatesIn } from './common-data.js';
import { inputFieldList, inputFieldProblems } from './input-field.js';
import { defineNodeType } from './node-type.js';

/** `humanInput`: waits until somebody has given the fields' values. */
export const humanInputNode = defineNodeType({
  type: 'humanInput',
  shape: { fields: inputFieldList.optional(), message: templateText.optional() },
  inspect: ({ fields, message }) => ({
    templates: templatesIn('message', message),
    problems: inputFieldProblems(fields),
  }),
});
