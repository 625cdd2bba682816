import { parseTemplate } from './parse-template.js';

/**
 * Ids of the nodes a template reads, each once (also `item` and `index` in an iteration). Loop variables and
 * variables that the template assigns are none. Throws TemplateSyntaxError.
 */
export function templateReferences(text: string): string[] {
  return [...parseTemplate(text).references];
}
