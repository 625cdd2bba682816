export {
  renderTemplate,
  renderTemplates,
  renderTemplateSync,
  renderText,
  type TemplateScope,
} from './render-template.js';
export { asText } from './template-engine.js';
export { TemplateRenderError, TemplateSyntaxError } from './template-error.js';
export { templateReferences } from './template-references.js';
export { parsePath, resolvePath } from './resolve-path.js';
