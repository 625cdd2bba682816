import type { DataSource } from 'typeorm';
import type { JsonValue } from '../common/json/json-value.js';
import type { AuditActor } from './audit-entry.js';

export interface AuditFilter {
  action?: string;
  actor?: string;
  subjectType?: string;
  subjectId?: string;
  /** Inclusive. */
  from?: Date;
  /** Exclusive. */
  to?: Date;
  /** Entries with a lower number only. */
  before?: number;
}

export interface AuditRecord {
  seq: number;
  at: string;
  actor: AuditActor;
  action: string;
  subject: { type: string; id: string };
  correlationId: string | null;
  reason: string | null;
  before: JsonValue;
  after: JsonValue;
  prevHash: string;
  hash: string;
}

/** Reads the audit chain. */
export class AuditTrail {
  constructor(private readonly dataSource: DataSource) {}

  /** At most `limit` entries, newest first. */
  async list(filter: AuditFilter, limit: number): Promise<AuditRecord[]> {
    const rows = await this.dataSource.query<
      (Omit<AuditRecord, 'seq' | 'at'> & { seq: string; at: Date | number })[]
    >(
      `SELECT seq, at, actor, action, json_build_object('type', subject_type, 'id', subject_id) AS subject,
              correlation_id AS "correlationId", reason, before, after, prev_hash AS "prevHash", hash
         FROM audit_logs
        WHERE ($1::text IS NULL OR action = $1) AND ($2::text IS NULL OR actor->>'name' = $2)
          AND ($3::text IS NULL OR subject_type = $3) AND ($4::text IS NULL OR subject_id = $4)
          AND ($5::timestamptz IS NULL OR at >= $5) AND ($6::timestamptz IS NULL OR at < $6)
          AND ($7::bigint IS NULL OR seq < $7)
        ORDER BY seq DESC LIMIT $8`,
      [
        filter.action ?? null,
        filter.actor ?? null,
        filter.subjectType ?? null,
        filter.subjectId ?? null,
        filter.from ?? null,
        filter.to ?? null,
        filter.before ?? null,
        limit,
      ],
    );
    return rows.map((row) => ({ ...row, seq: Number(row.seq), at: timeOf(row.at) }));
  }
}

/** Also of an entry that somebody has changed: `infinity` is a time to PostgreSQL, and must not hide the others. */
function timeOf(at: Date | number): string {
  return at instanceof Date ? at.toISOString() : String(at);
}
