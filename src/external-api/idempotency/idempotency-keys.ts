import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { DomainError, ValidationError } from '../../common/errors/domain-error.js';
import { IdempotencyKeyEntity } from './idempotency-key.entity.js';

/** How long a key is remembered. */
export const KEPT_HOURS = 24;

/** Thrown when a key comes again with another body. */
export class IdempotencyConflictError extends DomainError {
  readonly code = 'IDEMPOTENCY_CONFLICT';
  constructor() {
    super('this Idempotency-Key was used with another body');
  }
}

/** Thrown inside a creation's transaction when another one has just taken the key; never leaves this folder's caller. */
export class IdempotencyKeyTaken extends Error {}

/** Where a key counts: one API key, one workflow. */
export interface IdempotencyScope {
  apiKeyName: string;
  workflowId: number;
  key: string;
}

export interface FirstCreation {
  requestHash: string;
  runId: string;
  names: IdempotencyKeyEntity['names'];
}

/** The key of a request, or null. Throws a ValidationError unless it is 1 to 255 printable ASCII characters. */
export function readIdempotencyKey(header: string | string[] | undefined): string | null {
  if (header === undefined) return null;
  if (typeof header !== 'string' || !/^[\x20-\x7e]{1,255}$/.test(header)) {
    throw ValidationError.ofFields([
      { field: 'Idempotency-Key', message: 'must be 1 to 255 printable ASCII characters' },
    ]);
  }
  return header;
}

/** Remembers which run a key made. */
@Injectable()
export class IdempotencyKeys {
  constructor(private readonly dataSource: DataSource) {}

  /** The creation that used the key within the last 24 hours. Throws an IdempotencyConflictError for another body. */
  async find(scope: IdempotencyScope, requestHash: string): Promise<IdempotencyKeyEntity | null> {
    const [row] = await this.dataSource.query<IdempotencyKeyEntity[]>(
      `SELECT api_key_name AS "apiKeyName", workflow_id AS "workflowId", key, request_hash AS "requestHash",
              run_id AS "runId", names, created_at AS "createdAt"
         FROM idempotency_keys
        WHERE api_key_name = $1 AND workflow_id = $2 AND key = $3
          AND created_at > now() - make_interval(hours => $4)`,
      [scope.apiKeyName, scope.workflowId, scope.key, KEPT_HOURS],
    );
    if (row && row.requestHash !== requestHash) throw new IdempotencyConflictError();
    return row ?? null;
  }

  /**
   * Takes the key for a run that the same transaction creates. Waits for another transaction that is taking it,
   * in whatever process; throws IdempotencyKeyTaken when that one succeeded.
   */
  async take(manager: EntityManager, scope: IdempotencyScope, first: FirstCreation): Promise<void> {
    const rows = await manager.query<unknown[]>(
      `INSERT INTO idempotency_keys AS old (api_key_name, workflow_id, key, request_hash, run_id, names, created_at)
       VALUES ($1, $2, $3, $4, $5, $6, now())
       ON CONFLICT (api_key_name, workflow_id, key) DO UPDATE
          SET request_hash = excluded.request_hash, run_id = excluded.run_id, names = excluded.names,
              created_at = excluded.created_at
        WHERE old.created_at <= now() - make_interval(hours => $7)
       RETURNING 1`,
      [
        scope.apiKeyName,
        scope.workflowId,
        scope.key,
        first.requestHash,
        first.runId,
        JSON.stringify(first.names),
        KEPT_HOURS,
      ],
    );
    if (rows.length === 0) throw new IdempotencyKeyTaken();
  }

  /** Forgets what is older than 24 hours. */
  async removeExpired(): Promise<void> {
    await this.dataSource.query(
      `DELETE FROM idempotency_keys WHERE created_at <= now() - make_interval(hours => $1)`,
      [KEPT_HOURS],
    );
  }
}
