import type { MigrationInterface, QueryRunner } from 'typeorm';

export class CreateAuditLog1764550000000 implements MigrationInterface {
  name = 'CreateAuditLog1764550000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE audit_logs (
        seq bigint PRIMARY KEY,
        at timestamptz(3) NOT NULL,
        actor json NOT NULL,
        action text NOT NULL,
        subject_type text NOT NULL,
        subject_id text NOT NULL,
        correlation_id json,
        reason json,
        before json,
        after json,
        prev_hash text NOT NULL,
        hash text NOT NULL
      )`);
    await queryRunner.query(
      `CREATE INDEX audit_logs_by_subject ON audit_logs (subject_type, subject_id, seq)`,
    );
    await queryRunner.query(`
      CREATE TABLE audit_head (
        id boolean PRIMARY KEY DEFAULT true CHECK (id),
        chain_id uuid NOT NULL,
        seq bigint NOT NULL,
        hash text NOT NULL
      )`);
    await queryRunner.query(`
      INSERT INTO audit_head (chain_id, seq, hash)
      SELECT chain_id, 0, encode(sha256(convert_to('audit-chain:' || chain_id::text, 'UTF8')), 'hex')
        FROM (SELECT gen_random_uuid() AS chain_id) AS born`);
    await queryRunner.query(`
      CREATE FUNCTION refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        RAISE EXCEPTION '% is append-only: % is refused', TG_TABLE_NAME, TG_OP
          USING ERRCODE = 'insufficient_privilege';
      END $$`);
    await queryRunner.query(`
      CREATE FUNCTION refuse_audit_head_change() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        IF NEW.seq <> OLD.seq + 1 OR NEW.chain_id <> OLD.chain_id THEN
          RAISE EXCEPTION 'audit_head moves forward by one only' USING ERRCODE = 'insufficient_privilege';
        END IF;
        RETURN NEW;
      END $$`);
    // Statement triggers: a statement that would hit no row is refused too. ALWAYS: also under
    // session_replication_role = replica.
    await queryRunner.query(`
      CREATE TRIGGER audit_logs_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_logs
        FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change()`);
    await queryRunner.query(`ALTER TABLE audit_logs ENABLE ALWAYS TRIGGER audit_logs_append_only`);
    await queryRunner.query(`
      CREATE TRIGGER audit_head_kept BEFORE INSERT OR DELETE OR TRUNCATE ON audit_head
        FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change()`);
    await queryRunner.query(`ALTER TABLE audit_head ENABLE ALWAYS TRIGGER audit_head_kept`);
    await queryRunner.query(`
      CREATE TRIGGER audit_head_forward BEFORE UPDATE ON audit_head
        FOR EACH ROW EXECUTE FUNCTION refuse_audit_head_change()`);
    await queryRunner.query(`ALTER TABLE audit_head ENABLE ALWAYS TRIGGER audit_head_forward`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`DROP TABLE audit_logs, audit_head`);
    await queryRunner.query(`DROP FUNCTION refuse_audit_change(), refuse_audit_head_change()`);
  }
}
