import type { JsonObject, JsonValue } from '../../src/common/json/json-value.js';
import type { NodeVisit } from '../../src/engine/nodes/node-executor.js';
import type { WalkNode } from '../../src/engine/walks/walk.js';
import type { VisitLogEntry } from '../../src/events/run-event.js';

/** A visit as an executor gets it, without an engine around it. */
export function nodeVisit(
  type: WalkNode['type'],
  data: object,
  more: Partial<NodeVisit> & { scope?: Record<string, JsonValue> } = {},
): NodeVisit & { readonly logged: VisitLogEntry[] } {
  const logged: VisitLogEntry[] = [];
  return {
    run: {
      runId: 'run1',
      workflowId: '1',
      workflowName: 'a-workflow',
      leaseEpoch: 1,
      workflowVersion: 1,
      variables: {},
      workspaceDir: '/nowhere',
    },
    node: { id: 'n', type, data: data as JsonObject },
    visitUuid: '5f0c1f2e-0000-4000-8000-000000000001',
    nodeId: 'n',
    iterSeq: 1,
    attempt: 1,
    scope: {},
    predecessors: [],
    timeoutSeconds: 60,
    waited: null,
    walkItem: () => Promise.reject(new Error('this visit has no items')),
    log: (entry) => logged.push(entry),
    spend: () => undefined,
    logged,
    ...more,
  };
}
