import type { JsonValue } from '../../common/json/json-value.js';
import { orderedObject } from '../../common/json/ordered-object.js';
import { renderTemplates } from '../../workflows/templates/index.js';
import type { NodeExecutor, NodeResult, NodeVisit } from './node-executor.js';

/** `output`: the run's outputs; texts within the values are templates, and one that is one reference keeps its type. */
export class OutputExecutor implements NodeExecutor {
  readonly type = 'output';

  async execute({ node, scope }: NodeVisit): Promise<NodeResult> {
    const { fields } = node.data as { fields: { name: string; value: JsonValue }[] };
    const data: [string, JsonValue][] = [];
    for (const { name, value } of fields) data.push([name, await renderTemplates(value, scope)]);
    return { kind: 'completed', data: orderedObject(data) };
  }
}
