import type { JsonObject, JsonValue } from '../../common/json/json-value.js';
import { renderTemplate } from '../../workflows/templates/render-template.js';
import type { NodeExecutor, NodeResult, NodeVisit } from './node-executor.js';

/** `output`: the run's outputs; a value that is one reference keeps its type. */
export class OutputExecutor implements NodeExecutor {
  readonly type = 'output';

  async execute({ node, scope }: NodeVisit): Promise<NodeResult> {
    const { fields } = node.data as { fields: { name: string; value: JsonValue }[] };
    const data: JsonObject = {};
    for (const { name, value } of fields) {
      data[name] = typeof value === 'string' ? await renderTemplate(value, scope) : value;
    }
    return { kind: 'completed', data };
  }
}
