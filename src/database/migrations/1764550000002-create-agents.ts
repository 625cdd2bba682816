import type { MigrationInterface, QueryRunner } from 'typeorm';

export class CreateAgents1764550000002 implements MigrationInterface {
  name = 'CreateAgents1764550000002';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE agents (
        agent_key text PRIMARY KEY,
        display_name json NOT NULL,
        description json NOT NULL,
        current_version integer,
        last_version integer NOT NULL DEFAULT 0,
        revision integer NOT NULL DEFAULT 0,
        created_at timestamptz(3) NOT NULL,
        updated_at timestamptz(3) NOT NULL,
        archived_at timestamptz(3)
      )`);
    await queryRunner.query(`
      CREATE TABLE agent_versions (
        agent_key text NOT NULL REFERENCES agents,
        version integer NOT NULL,
        status text NOT NULL CHECK (status IN ('DRAFT', 'PUBLISHED')),
        config json NOT NULL,
        copied_from integer,
        created_at timestamptz(3) NOT NULL,
        created_by json NOT NULL,
        published_at timestamptz(3),
        published_by json,
        publish_reason json,
        PRIMARY KEY (agent_key, version)
      )`);
    await queryRunner.query(`
      CREATE TABLE agent_slots (
        slot_key text PRIMARY KEY,
        agent_key text NOT NULL REFERENCES agents,
        updated_at timestamptz(3) NOT NULL
      )`);
    await queryRunner.query(`CREATE INDEX agent_slots_by_agent ON agent_slots (agent_key)`);
    // What has been published is what was reviewed: the only change there is is a draft's publication.
    await queryRunner.query(`
      CREATE FUNCTION keep_agent_version() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        IF OLD.status = 'PUBLISHED' THEN
          RAISE EXCEPTION 'version % of agent % is published and never changes', OLD.version, OLD.agent_key
            USING ERRCODE = 'insufficient_privilege';
        END IF;
        IF TG_OP = 'UPDATE' AND (NEW.config::text <> OLD.config::text OR NEW.agent_key <> OLD.agent_key
                                 OR NEW.version <> OLD.version) THEN
          RAISE EXCEPTION 'the config of version % of agent % never changes', OLD.version, OLD.agent_key
            USING ERRCODE = 'insufficient_privilege';
        END IF;
        RETURN CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END;
      END $$`);
    await queryRunner.query(`
      CREATE TRIGGER agent_versions_kept BEFORE UPDATE OR DELETE ON agent_versions
        FOR EACH ROW EXECUTE FUNCTION keep_agent_version()`);
    await queryRunner.query(`ALTER TABLE agent_versions ENABLE ALWAYS TRIGGER agent_versions_kept`);
    await queryRunner.query(`
      CREATE TRIGGER agent_versions_not_emptied BEFORE TRUNCATE ON agent_versions
        FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change()`);
    await queryRunner.query(`ALTER TABLE agent_versions ENABLE ALWAYS TRIGGER agent_versions_not_emptied`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`DROP TABLE agent_slots, agent_versions, agents`);
    await queryRunner.query(`DROP FUNCTION keep_agent_version()`);
  }
}
