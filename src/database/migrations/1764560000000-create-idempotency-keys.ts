import type { MigrationInterface, QueryRunner } from 'typeorm';

export class CreateIdempotencyKeys1764560000000 implements MigrationInterface {
  name = 'CreateIdempotencyKeys1764560000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE idempotency_keys (
        api_key_name text NOT NULL,
        workflow_id bigint NOT NULL,
        key text NOT NULL,
        request_hash text NOT NULL,
        run_id text NOT NULL,
        names json NOT NULL,
        created_at timestamptz(3) NOT NULL,
        PRIMARY KEY (api_key_name, workflow_id, key)
      )`);
    await queryRunner.query(`CREATE INDEX idempotency_keys_age ON idempotency_keys (created_at)`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`DROP TABLE idempotency_keys`);
  }
}
