import type { MigrationInterface, QueryRunner } from 'typeorm';

export class CreateRuntimeCalls1764550000001 implements MigrationInterface {
  name = 'CreateRuntimeCalls1764550000001';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE runtime_calls (
        command_id text PRIMARY KEY,
        request_digest text NOT NULL,
        status text NOT NULL,
        provider text NOT NULL,
        provider_ref json NOT NULL,
        provider_request_id json,
        recovery json,
        run_id text,
        workflow_id bigint,
        visit_uuid uuid,
        node_id text,
        correlation_id json NOT NULL,
        agent_key text,
        agent_version integer,
        slot_key text,
        actor json NOT NULL,
        scenario json NOT NULL,
        envelope_id uuid,
        envelope json,
        trimmed json NOT NULL,
        snapshot_id uuid,
        snapshot json,
        owner text NOT NULL,
        requested_at timestamptz(3) NOT NULL,
        started_at timestamptz(3),
        completed_at timestamptz(3),
        deadline_at timestamptz(3) NOT NULL,
        output_summary json,
        finish_reason text,
        traceability text,
        failure json,
        prompt_tokens bigint,
        completion_tokens bigint,
        total_tokens bigint,
        duration_ms bigint,
        tool_calls integer NOT NULL DEFAULT 0,
        cost_amount numeric,
        cost_currency text,
        attribution text,
        reconcile_after timestamptz(3),
        reconcile_attempts integer NOT NULL DEFAULT 0,
        reconciled json
      ) WITH (fillfactor = 70)`);
    await queryRunner.query(`CREATE INDEX runtime_calls_by_time ON runtime_calls (requested_at, command_id)`);
    await queryRunner.query(
      `CREATE INDEX runtime_calls_by_run ON runtime_calls (run_id) WHERE run_id IS NOT NULL`,
    );
    await queryRunner.query(
      `CREATE INDEX runtime_calls_by_agent ON runtime_calls (agent_key, requested_at) WHERE agent_key IS NOT NULL`,
    );
    await queryRunner.query(
      `CREATE INDEX runtime_calls_open ON runtime_calls (owner) WHERE status IN ('REQUESTED', 'STARTED')`,
    );
    await queryRunner.query(
      `CREATE INDEX runtime_calls_to_reconcile ON runtime_calls (reconcile_after)
        WHERE reconcile_after IS NOT NULL`,
    );
    await queryRunner.query(`
      CREATE TABLE runtime_call_outputs (
        command_id text PRIMARY KEY,
        output json NOT NULL,
        kept_until timestamptz(3) NOT NULL
      )`);
    await queryRunner.query(`CREATE INDEX runtime_call_outputs_by_age ON runtime_call_outputs (kept_until)`);
    await queryRunner.query(`
      CREATE TABLE runtime_call_owners (
        owner text PRIMARY KEY,
        seen_at timestamptz(3) NOT NULL
      )`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`DROP TABLE runtime_calls, runtime_call_outputs, runtime_call_owners`);
  }
}
