import type { AuditActor } from '../audit/index.js';

/** Who asked for a change, and with which request: what the audit log keeps of it. */
export interface RequestedBy {
  actor: AuditActor;
  correlationId: string | null;
}
