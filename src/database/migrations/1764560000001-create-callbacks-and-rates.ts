import type { MigrationInterface, QueryRunner } from 'typeorm';

export class CreateCallbacksAndRates1764560000001 implements MigrationInterface {
  name = 'CreateCallbacksAndRates1764560000001';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE run_callbacks (
        run_id text PRIMARY KEY,
        state text NOT NULL,
        attempts integer NOT NULL,
        next_attempt_at timestamptz(3),
        last_error json,
        created_at timestamptz(3) NOT NULL,
        ended_at timestamptz(3)
      )`);
    await queryRunner.query(
      `CREATE INDEX run_callbacks_due ON run_callbacks (next_attempt_at) WHERE state = 'due'`,
    );
    await queryRunner.query(
      `CREATE INDEX runs_with_callback ON runs (completed_at) WHERE callback_url IS NOT NULL`,
    );
    // A crash of PostgreSQL empties it: a key then gets its minute anew, which is worth no flush per request.
    await queryRunner.query(`
      CREATE UNLOGGED TABLE api_key_rates (
        key_name text PRIMARY KEY,
        used_until timestamptz NOT NULL
      )`);
    // In UTC, because only that expression is immutable. ExpireWorkspaces asks with the same one.
    await queryRunner.query(`
      CREATE INDEX runs_workspace_expiry
          ON runs (((coalesce(completed_at, created_at) AT TIME ZONE 'UTC') + ttl_hours * interval '1 hour'))
       WHERE workspace_expired_at IS NULL AND status <> 'RUNNING'`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`DROP INDEX runs_workspace_expiry`);
    await queryRunner.query(`DROP INDEX runs_with_callback`);
    await queryRunner.query(`DROP TABLE api_key_rates`);
    await queryRunner.query(`DROP TABLE run_callbacks`);
  }
}
