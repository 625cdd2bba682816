import { defineNodeType } from './node-type.js';
import { inputFieldList, inputFieldProblems } from './input-field.js';

/** `userInput`: what the workflow asks for; its output is the run's variables. */
export const userInputNode = defineNodeType({
  type: 'userInput',
  shape: { fields: inputFieldList.optional() },
  inspect: ({ fields }) => ({ problems: inputFieldProblems(fields) }),
});
