import type { MigrationInterface, QueryRunner } from 'typeorm';

export class CreateApiKeys1764580000000 implements MigrationInterface {
  name = 'CreateApiKeys1764580000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE api_keys (
        id uuid PRIMARY KEY,
        name text NOT NULL,
        key_hash text NOT NULL,
        workflow_names json NOT NULL,
        workflow_ids json NOT NULL,
        requests_per_minute integer,
        max_concurrent_runs integer,
        expires_at timestamptz(3),
        created_by text NOT NULL,
        created_at timestamptz(3) NOT NULL,
        last_used_at timestamptz(3),
        revoked_at timestamptz(3)
      )`);
    await queryRunner.query(`CREATE UNIQUE INDEX api_keys_hash ON api_keys (key_hash)`);
    await queryRunner.query(`CREATE UNIQUE INDEX api_keys_name ON api_keys (name) WHERE revoked_at IS NULL`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE api_keys');
  }
}
