export { AuditLog } from './audit-log.js';
export { AuditTrail, type AuditFilter, type AuditRecord } from './audit-trail.js';
export type { AuditActor, AuditEntry } from './audit-entry.js';
export { VerifyAuditChain, type ChainVerdict } from './verify-audit-chain.js';
export { AuditModule } from './audit.module.js';
