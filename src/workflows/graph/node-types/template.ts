import { templateText, templatesIn } from './common-data.js';
import { defineNodeType } from './node-type.js';

/** `template`: a text with references filled in. */
export const templateNode = defineNodeType({
  type: 'template',
  shape: { template: templateText },
  inspect: ({ template }) => ({ templates: templatesIn('template', template) }),
});
