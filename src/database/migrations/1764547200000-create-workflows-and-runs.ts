import type { MigrationInterface, QueryRunner } from 'typeorm';

export class CreateWorkflowsAndRuns1764547200000 implements MigrationInterface {
  name = 'CreateWorkflowsAndRuns1764547200000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE workflows (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        name text NOT NULL,
        display_name json NOT NULL,
        description json NOT NULL,
        current_version integer NOT NULL,
        created_at timestamptz(3) NOT NULL,
        updated_at timestamptz(3) NOT NULL,
        deleted_at timestamptz(3)
      )`);
    await queryRunner.query(
      `CREATE UNIQUE INDEX workflows_name ON workflows (name) WHERE deleted_at IS NULL`,
    );
    await queryRunner.query(`
      CREATE TABLE workflow_versions (
        workflow_id bigint NOT NULL,
        version integer NOT NULL,
        mode text NOT NULL,
        graph_data json NOT NULL,
        settings json NOT NULL,
        created_at timestamptz(3) NOT NULL,
        PRIMARY KEY (workflow_id, version)
      )`);
    // Room in each page lets lease renewals and visit ends be heap-only updates.
    await queryRunner.query(`
      CREATE TABLE runs (
        run_id text PRIMARY KEY,
        workflow_id bigint NOT NULL,
        workflow_version integer NOT NULL,
        status text NOT NULL,
        status_reason text,
        error json,
        error_detail json,
        variables json NOT NULL,
        outputs json,
        fail_strategy text,
        ttl_hours integer NOT NULL,
        api_key_name text,
        callback_url json,
        parent_run_id text,
        parent_visit_uuid uuid,
        rerun_of text,
        rerun_from_node text,
        created_at timestamptz(3) NOT NULL,
        started_at timestamptz(3),
        completed_at timestamptz(3),
        cancel_requested_at timestamptz(3),
        lease_owner text,
        lease_epoch integer NOT NULL DEFAULT 0,
        lease_until timestamptz(3),
        wakes integer NOT NULL DEFAULT 0,
        workspace_expired_at timestamptz(3)
      ) WITH (fillfactor = 70)`);
    await queryRunner.query(`CREATE INDEX runs_by_workflow ON runs (workflow_id, created_at, run_id)`);
    await queryRunner.query(`CREATE INDEX runs_claimable ON runs (lease_until) WHERE status = 'RUNNING'`);
    await queryRunner.query(
      `CREATE INDEX runs_by_parent ON runs (parent_run_id) WHERE parent_run_id IS NOT NULL`,
    );
    await queryRunner.query(`
      CREATE TABLE visits (
        run_id text NOT NULL,
        sort_order integer NOT NULL,
        visit_uuid uuid NOT NULL,
        node_id text NOT NULL,
        node_type text NOT NULL,
        iter_seq integer NOT NULL,
        attempt integer NOT NULL,
        status text NOT NULL,
        predecessors uuid[] NOT NULL,
        envelope json,
        chosen_handle text,
        error_code text,
        skipped_because text[],
        waiting json,
        tokens integer NOT NULL DEFAULT 0,
        tool_calls integer NOT NULL DEFAULT 0,
        started_at timestamptz(3) NOT NULL,
        completed_at timestamptz(3),
        PRIMARY KEY (run_id, sort_order)
      ) WITH (fillfactor = 70)`);
    await queryRunner.query(`CREATE UNIQUE INDEX visits_by_uuid ON visits (visit_uuid)`);
    await queryRunner.query(`
      CREATE TABLE run_events (
        run_id text NOT NULL,
        seq integer NOT NULL,
        type text NOT NULL,
        node_id text,
        visit_uuid uuid,
        iter_seq integer,
        log_type text,
        at timestamptz(3) NOT NULL,
        payload text NOT NULL,
        PRIMARY KEY (run_id, seq)
      )`);
    await queryRunner.query(
      `CREATE INDEX run_events_log ON run_events (run_id, node_id, seq) WHERE log_type IS NOT NULL`,
    );
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const table of ['run_events', 'visits', 'runs', 'workflow_versions', 'workflows']) {
      await queryRunner.query(`DROP TABLE ${table}`);
    }
  }
}
