import { renderText } from '../../workflows/templates/render-template.js';
import type { NodeExecutor, NodeResult, NodeVisit } from './node-executor.js';

/** `template`: a text with references filled in; `{text}`. */
export class TemplateExecutor implements NodeExecutor {
  readonly type = 'template';

  async execute({ node, scope }: NodeVisit): Promise<NodeResult> {
    const { template } = node.data as { template: string };
    return { kind: 'completed', data: { text: await renderText(template, scope) } };
  }
}
