import type { JsonObject } from '../../common/json/json-value.js';
import { renderText } from '../../workflows/templates/index.js';
import type { NodeExecutor, NodeResult, NodeVisit } from './node-executor.js';

/** `humanInput`: waits, holding nothing in memory, until a person gives the values of its fields. */
export class HumanInputExecutor implements NodeExecutor {
  readonly type = 'humanInput';

  async execute({ node, scope, waited }: NodeVisit): Promise<NodeResult> {
    if (waited?.answer) return { kind: 'completed', data: waited.answer as JsonObject };
    if (waited) return { kind: 'waiting', waitingFor: waited, wakeAt: null };
    const message = typeof node.data.message === 'string' ? await renderText(node.data.message, scope) : '';
    const fields = node.data.fields ?? [];
    const since = new Date().toISOString();
    return { kind: 'waiting', waitingFor: { kind: 'person', fields, message, since }, wakeAt: null };
  }
}
