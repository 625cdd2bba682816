import type { EntityManager } from 'typeorm';
import type { JsonValue } from '../common/json/json-value.js';
import { entryHash, type AuditEntry, type ChainedAuditEntry } from './audit-entry.js';
import { maskSecretKeys } from './mask-secret-keys.js';

/** Takes known secret values out of what is about to be kept; `SecretRedactor` of credentials does. */
export interface Redaction {
  redactDeep<T extends JsonValue>(value: T): T;
}

/** Set in `queryRunner.data` where a transaction appended; the anchor looks for it after the commit. */
export const APPENDED = 'auditLogAppended';

/**
 * Appends to the audit chain inside the transaction of what is recorded: either both are kept or neither is.
 * Appends of all processes wait for one another from here to the commit, so append last in a transaction.
 */
export class AuditLog {
  constructor(
    private readonly redaction: Redaction,
    private readonly now: () => Date = () => new Date(),
  ) {}

  /** `manager` must be a transaction's. */
  async append(manager: EntityManager, entry: AuditEntry): Promise<void> {
    const runner = manager.queryRunner;
    if (!runner?.isTransactionActive)
      throw new Error('AuditLog.append needs the transaction of what it records');
    const [head] = await manager.query<{ seq: string; hash: string }[]>(
      `SELECT seq, hash FROM audit_head FOR UPDATE`,
    );
    if (!head) throw new Error('audit_head is empty: the audit chain cannot go on');
    const chained: ChainedAuditEntry = {
      ...this.#redacted(entry),
      seq: Number(head.seq) + 1,
      at: this.now().toISOString(),
      prevHash: head.hash,
    };
    await manager.query(
      `WITH appended AS (
         INSERT INTO audit_logs (seq, at, actor, action, subject_type, subject_id, correlation_id, reason, before,
                                 after, prev_hash, hash)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
       )
       UPDATE audit_head SET seq = $1, hash = $12`,
      [
        chained.seq,
        chained.at,
        JSON.stringify(chained.actor),
        chained.action,
        chained.subject.type,
        chained.subject.id,
        json(chained.correlationId),
        json(chained.reason),
        json(chained.before),
        json(chained.after),
        chained.prevHash,
        entryHash(chained),
      ],
    );
    runner.data = { ...(runner.data as object), [APPENDED]: true };
  }

  #redacted(entry: AuditEntry): AuditEntry & { reason: string | null } {
    const { actor, action, subject, correlationId, reason = null } = entry;
    return {
      actor: { kind: actor.kind, name: this.redaction.redactDeep(actor.name) },
      action,
      subject: { type: subject.type, id: subject.id },
      correlationId: this.redaction.redactDeep(correlationId),
      reason: this.redaction.redactDeep(reason),
      before: this.#state(entry.before),
      after: this.#state(entry.after),
    };
  }

  /** As it will be read back: dates as text, no undefined members. Otherwise the hash would not match. */
  #state(value: JsonValue): JsonValue {
    const plain = JSON.parse(JSON.stringify(value ?? null)) as JsonValue;
    return this.redaction.redactDeep(maskSecretKeys(plain));
  }
}

/** SQL NULL for null, so that it reads back as null and takes no room. */
function json(value: JsonValue): string | null {
  return value === null ? null : JSON.stringify(value);
}
