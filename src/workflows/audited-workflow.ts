import { createHash } from 'node:crypto';
import type { AuditEntry } from '../audit/index.js';
import { canonicalJson } from '../common/json/canonical-json.js';
import type { JsonObject, JsonValue } from '../common/json/json-value.js';
import type { WorkflowDefinition } from './workflow-definition.js';

/** Who asked for a change, and with which request. */
export type ChangedBy = Pick<AuditEntry, 'actor' | 'correlationId'>;

/** What the audit log keeps of a version: the version itself never changes, so its digest stands for it. */
export function auditedWorkflow(
  definition: Omit<WorkflowDefinition, 'workflowId' | 'createdAt' | 'updatedAt'>,
): JsonObject {
  const { name, displayName, description, version, mode, graphData, settings } = definition;
  const content = canonicalJson({ mode, graphData, settings } as unknown as JsonValue);
  const digest = createHash('sha256').update(content).digest('hex');
  return { name, displayName, description, version, digest };
}
